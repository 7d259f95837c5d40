function opts = lanczos_options(given, more, without)
%LANCZOS_OPTIONS  Options of an eigensolver, and the names in the cell MORE besides, but those in the cell WITHOUT.
%   Names of eigs, and of SciPy, are answered with the name here.
  if nargin < 3
    without = {};
  end
  names = [purlin.internal.option_names('lanczos', [{'kind', 'ordering', 'check_symmetry'}, without]), {'progress'}, more];
  other = {'tol', 'tolerance'; 'maxit', 'restarts'; 'maxiter', 'restarts'; 'MaxIterations', 'restarts'; 'p', 'basis'; ...
           'ncv', 'basis'; 'SubspaceDimension', 'basis'; 'StartVector', 'start'; 'v0', 'start'; 'Display', 'progress'; ...
           'disp', 'progress'; 'OPinv', 'solve'; 'rng', 'seed'; 'random_state', 'seed'};
  other = other(ismember(other(:, 2), names), :);
  opts = purlin.internal.options(names, given, other);
end
