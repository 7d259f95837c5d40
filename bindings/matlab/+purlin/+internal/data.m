function value = data(array, name)
%DATA  What the gateway takes for an array: the array itself, or the key of a purlin.Tensor.
  if isa(array, 'purlin.Tensor')
    value = array.key;
    return;
  end
  validate(array, {'double', 'single'}, {'real', 'nonsparse'}, name);
  value = array;
end

function validate(array, classes, attributes, name)
  try
    validateattributes(array, classes, attributes, 'purlin', name);
  catch caught
    error('purlin:invalidArgument', '%s', caught.message);
  end
end
