function [opts, given] = lanczos_inputs(arguments, more)
%LANCZOS_INPUTS  Options of purlin.lanczos, and in a cell the start vector, the known vectors and the solve.
%   MORE is a cell of further names.
  names = {'start', 'known', 'solve'};
  opts = purlin.internal.lanczos_options(arguments, [{'kind', 'ordering', 'devices', 'check_symmetry'}, names, more]);
  given = {[], [], []};
  for n = 1:3
    if isfield(opts, names{n})
      given{n} = opts.(names{n});
      opts = rmfield(opts, names{n});
    end
  end
  for n = 1:2
    if ~isempty(given{n}) && ~isnumeric(given{n}) && ~islogical(given{n})
      error('purlin:invalidArgument', '%s: is of class %s, expected numbers', names{n}, class(given{n}));
    end
  end
  if isa(given{3}, 'function_handle')
    error('purlin:invalidArgument', 'solve: is a function handle; %s', ...
          'a struct is needed: struct(''apply'', @(X, adjoint) .., ''size'', size(A), ''dtype'', ''double'')');
  end
  if ~isempty(given{3})
    given{3} = purlin.internal.matrix(given{3}, 'solve');
  end
end
