function check(condition, text)
% CHECK  Raises an error unless all of the condition holds; an empty condition fails.
  if isempty(condition) || ~all(condition(:))
    error('test:failed', 'failed: %s', text);
  end
end
