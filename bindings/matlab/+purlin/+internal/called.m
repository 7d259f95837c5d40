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
    if ~isnumeric(value) && ~islogical(value)
      error('purlin:invalidArgument', '%s: has returned %s, numbers are needed', name, class(value));
    end
    if numel(varargin) == 2 && ~islogical(varargin{2})
      % A reader, which was asked for so many elements along each axis.
      wanted = varargin{2};
      found = size(value);
      if ~isequal(found(found ~= 1), wanted(wanted ~= 1))
        error('purlin:invalidArgument', '%s: has returned a block of %s, %s is needed', name, mat2str(found), ...
              mat2str(wanted));
      end
    end
    if ~isreal(value) && ~type{2}
      error('purlin:invalidArgument', '%s: has returned complex numbers, which its description does not say', name);
    end
    given = value;
    value = cast(given, type{1});
    if isa(given, 'integer') && isfloat(value)
      % A cast back saturates, so the largest integer would seem to be held.
      beyond = double(intmax(class(given))) + 1;
      lost = cast(value, class(given)) ~= given | double(value) >= beyond;
    elseif isa(value, 'integer')
      lost = double(value) ~= double(given);
    else
      lost = ~isfinite(value) & isfinite(given);
    end
    if any(lost(:))
      where = find(lost, 1);
      error('purlin:invalidArgument', '%s: has returned %.15g, which class %s does not hold', name, ...
            double(given(where)), type{1});
    end
    if type{2} && isreal(value)
      value = complex(value);
    end
  catch caught
    value = [];
    failure = struct('message', caught.message, 'identifier', caught.identifier);
  end
end
