function opts = lanczos_options(given, more)
%LANCZOS_OPTIONS  Options of an eigensolver, and the names in the cell MORE besides.
  names = {'shift', 'sigma', 'tolerance', 'basis', 'restarts', 'seed', 'verify', 'method', 'block', 'orthogonality', ...
           'filter', 'degree', 'progress'};
  opts = purlin.internal.options([names, more], given);
end
