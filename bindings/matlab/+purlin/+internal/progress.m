function [cancel, failure] = progress(user, step, steps, measure)
%PROGRESS  Calls a progress function and returns its error, for the gateway to raise after the call.
%   A result that is neither true nor false, or none at all, is an error, whose message says how to write the function.
  cancel = true;
  failure = [];
  hint = 'true to cancel or false to go on is needed, as of @(step, steps, measure) false';
  try
    answer = user(step, steps, measure);
  catch caught
    failure = struct('message', caught.message, 'identifier', caught.identifier);
    if gives_nothing(caught)
      failure = struct('message', ['progress: returns nothing, ', hint], 'identifier', 'purlin:invalidArgument');
    end
    return;
  end
  try
    cancel = any(logical(answer(:)));
  catch
    failure = struct('message', sprintf('progress: has returned a %s, %s', class(answer), hint), ...
                     'identifier', 'purlin:invalidArgument');
  end
end

function yes = gives_nothing(caught)
%GIVES_NOTHING  Whether the error is that of a function without a value.
  identifiers = {'MATLAB:maxlhs', 'MATLAB:TooManyOutputs', 'MATLAB:unassignedOutputs'};
  texts = {'called with too many outputs', 'value on right hand side of assignment is undefined', ...
           'value on the right hand side of the assignment not defined', 'some elements undefined in argument list'};
  yes = any(strcmp(caught.identifier, identifiers));
  for k = 1:numel(texts)
    yes = yes || ~isempty(strfind(caught.message, texts{k}));
  end
end
