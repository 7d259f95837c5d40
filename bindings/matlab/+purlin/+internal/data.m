function value = data(array, name)
%DATA  An array in the form that the gateway takes: the array itself, or the key of a purlin.Tensor.
  if isa(array, 'purlin.Tensor')
    value = array.key;
    return;
  end
  purlin.internal.validate(array, {'double', 'single'}, {'real', 'nonsparse'}, name);
  value = array;
end
