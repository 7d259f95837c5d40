function value = numbers(value, name, type)
%NUMBERS  Numbers in class double, or TYPE; refuses anything that is neither numeric nor logical.
  if ~isnumeric(value) && ~islogical(value)
    error('purlin:invalidArgument', '%s: is of class %s, expected numbers', name, class(value));
  end
  if nargin < 3
    type = 'double';
  end
  value = cast(value, type);
end
