function [value, failure] = called(name, type, count, user, varargin)
%CALLED  Calls a reader, writer or product and returns its error, for the gateway to raise after the call.
%   TYPE is the class of the value and whether it is complex, or {} where there is none; COUNT is how many elements it has.
  value = [];
  failure = [];
  try
    if isempty(type)
      user(varargin{:});
      return;
    end
    value = full(user(varargin{:}));
    if numel(value) ~= count
      error('purlin:invalidArgument', '%s: has returned %d elements, %d are needed', name, numel(value), count);
    end
    if ~isreal(value) && ~type{2}
      error('purlin:invalidArgument', '%s: has returned complex numbers, which its description does not say', name);
    end
    value = cast(value, type{1});
    if type{2} && isreal(value)
      value = complex(value);
    end
  catch caught
    value = [];
    failure = struct('message', caught.message, 'identifier', caught.identifier);
  end
end
