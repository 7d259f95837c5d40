function whole(value, name, least)
%WHOLE  Refuses a value that is not a real whole scalar of at least LEAST.
  found = '';
  if ~isnumeric(value)
    found = ['is of class ', class(value)];
  elseif numel(value) ~= 1
    found = sprintf('has %d elements', numel(value));
  elseif ~isreal(value)
    found = 'is complex';
  elseif ~(value >= least && value == floor(value)) || isinf(value)
    found = sprintf('is %.15g', double(value));
  end
  if ~isempty(found)
    error('purlin:invalidArgument', '%s: %s, expected a whole number of at least %d', name, found, least);
  end
end
