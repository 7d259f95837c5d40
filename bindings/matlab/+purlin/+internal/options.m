function opts = options(names, given, other, argument)
%OPTIONS  Name/value pairs, or one struct, as a struct with known fields only.
%   opts = purlin.internal.options(names, given) reads the cell GIVEN: empty, {struct}, or {name, value, ...}. A
%   progress function is wrapped so that its errors are returned and not raised. Each row of the cell OTHER is another
%   package's name of an option and the name here, for the message; earlier names of purlin's own are known. ARGUMENT is the
%   name of the struct in messages (default 'options').
%   For every option an empty numeric or logical array stands for the default, and a text is one row of characters that is
%   not empty.
  opts = struct();
  if numel(given) == 1 && isstruct(given{1})
    if numel(given{1}) ~= 1
      error('purlin:invalidArgument', 'options: are a struct array of %d elements, expected one struct', numel(given{1}));
    end
    fields = fieldnames(given{1});
    values = struct2cell(given{1});
  elseif mod(numel(given), 2) == 0
    fields = given(1:2:end);
    values = given(2:2:end);
  else
    error('purlin:invalidArgument', 'options: are not name/value pairs or a struct');
  end
  if nargin < 3
    other = cell(0, 2);
  end
  if nargin < 4
    argument = 'options';
  end
  earlier = {'algorithm', 'method'; 'class', 'dtype'; 'norm_way', 'norm_method'; 'order', 'ordering'; ...
             'orthogonality', 'orthogonalization'; 'precision', 'dtype'; 'remainder', 'sparse'; 'restart', 'restart_path'; ...
             'starts', 'start_count'};
  other = [other; earlier(ismember(earlier(:, 2), names), :)];
  for k = 1:numel(fields)
    name = fields{k};
    if ~ischar(name)
      name = ['argument of class ', class(name)];
    end
    if ~any(strcmp(name, names))
      here = names(strcmpi(name, names));
      if any(strcmpi(name, other(:, 1)))
        here = other(strcmpi(name, other(:, 1)), 2);
      end
      if ~isempty(here)
        error('purlin:invalidArgument', '%s: there is no %s; it is %s here', argument, name, here{1});
      end
      error('purlin:invalidArgument', '%s: there is no %s; known are %s', argument, name, strjoin(names, ', '));
    end
    value = values{k};
    if ischar(value) && (size(value, 1) ~= 1 || numel(value) ~= size(value, 2)) && ~isempty(value)
      error('purlin:invalidArgument', '%s: is an array of %s characters, expected one row', name, ...
            strjoin(arrayfun(@num2str, size(value), 'UniformOutput', false), ' x '));
    elseif (ischar(value) || iscell(value)) && isempty(value)
      error('purlin:invalidArgument', '%s: is an empty %s; [] stands for the default', name, class(value));
    elseif (isnumeric(value) || islogical(value)) && isempty(value)
      if isfield(opts, name)
        opts = rmfield(opts, name);
      end
    else
      opts.(name) = value;
    end
  end
  if isfield(opts, 'progress') && isa(opts.progress, 'function_handle')
    user = opts.progress;
    opts.progress = @(step, steps, measure) purlin.internal.progress(user, step, steps, measure);
  end
end
