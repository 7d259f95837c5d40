function value = matrix(array, name)
%MATRIX  A matrix in the form that the gateway takes: an array in place, a sparse one transposed, a key, a file, or functions.
  if isa(array, 'purlin.Matrix')
    value = array.key;
  elseif ischar(array) || isstruct(array)
    value = purlin.internal.wrapped(array);
  elseif issparse(array)
    % Compressed columns of the transpose are the compressed rows. A logical one is a pattern and stays so.
    if ~islogical(array)
      array = double(array);
    end
    value = array.';
  elseif islogical(array)
    value = uint8(array);
  elseif isa(array, 'int64') || isa(array, 'uint64')
    value = double(array);
  else
    purlin.internal.validate(array, {'numeric'}, {'2d'}, name);
    value = array;
  end
end
