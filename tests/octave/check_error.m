function check_error(identifier, part, action)
% CHECK_ERROR  Runs ACTION, which must raise IDENTIFIER with PART in its message.
  caught = [];
  try
    action();
  catch caught
  end
  if isempty(caught)
    error('test:failed', 'failed: no error, expected %s', identifier);
  end
  matches = isempty(part) || ~isempty(strfind(caught.message, part));
  if ~strcmp(caught.identifier, identifier) || ~matches
    error('test:failed', 'failed: got %s (%s), expected %s (%s)', caught.identifier, caught.message, identifier, part);
  end
end
