function [cancel, failure] = progress(user, step, steps, measure)
%PROGRESS  Calls a progress function and returns its error, for the gateway to raise after the call.
  cancel = true;
  failure = [];
  try
    cancel = any(logical(user(step, steps, measure)));
  catch caught
    failure = struct('message', caught.message, 'identifier', caught.identifier);
  end
end
