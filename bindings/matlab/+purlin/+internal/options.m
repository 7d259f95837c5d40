function opts = options(names, given, other)
%OPTIONS  Name/value pairs, or one struct, as a struct with known fields only.
%   opts = purlin.internal.options(names, given) reads the cell GIVEN: empty, {struct}, or {name, value, ...}. A
%   progress function is wrapped so that its errors are returned and not raised. Each row of the cell OTHER is another
%   package's name of an option and the name here, for the message.
  opts = struct();
  if numel(given) == 1 && isstruct(given{1})
    fields = fieldnames(given{1});
    values = struct2cell(given{1});
  elseif mod(numel(given), 2) == 0
    fields = given(1:2:end);
    values = given(2:2:end);
  else
    error('purlin:invalidArgument', 'options: are not name/value pairs or a struct');
  end
  for k = 1:numel(fields)
    name = fields{k};
    if ~ischar(name)
      name = ['argument of class ', class(name)];
    end
    if ~any(strcmp(name, names))
      here = names(strcmpi(name, names));
      if nargin > 2 && any(strcmpi(name, other(:, 1)))
        here = other(strcmpi(name, other(:, 1)), 2);
      end
      if ~isempty(here)
        error('purlin:invalidArgument', 'options: there is no %s; it is %s here', name, here{1});
      end
      error('purlin:invalidArgument', 'options: there is no %s; known are %s', name, strjoin(names, ', '));
    end
    opts.(name) = values{k};
  end
  if isfield(opts, 'progress') && isa(opts.progress, 'function_handle')
    user = opts.progress;
    opts.progress = @(step, steps, measure) purlin.internal.progress(user, step, steps, measure);
  end
end
