function value = symmetric_matrix(array, name)
%SYMMETRIC_MATRIX  A symmetric matrix for the gateway, a sparse one in place: its compressed columns are compressed rows.
  if issparse(array) && isreal(array) && size(array, 1) == size(array, 2) && isfinite(full(sum(sum(array))))
    value = array;
    if ~islogical(array)
      value = double(array);
    end
  elseif (isnumeric(array) || islogical(array)) && ~issparse(array)
    % sparse() would put the pages of an array side by side.
    purlin.internal.validate(array, {'numeric', 'logical'}, {'2d'}, name);
    value = purlin.internal.matrix(sparse(double(array)), name);
  else
    % Transposed, because errors name the sizes and the indices of an entry that is not finite.
    value = purlin.internal.matrix(array, name);
  end
end
