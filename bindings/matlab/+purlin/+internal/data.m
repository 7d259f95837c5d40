function value = data(array, name)
%DATA  What the gateway takes for an array: the array itself, or the key of a purlin.Tensor.
  if isa(array, 'purlin.Tensor')
    value = array.key;
    return;
  end
  purlin.internal.validate(array, {'double', 'single'}, {'real', 'nonsparse'}, name);
  value = array;
end
