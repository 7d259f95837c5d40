function opts = rsvd_options(given, more)
%RSVD_OPTIONS  The options of the randomized SVD, and the names in MORE, from name/value pairs or a struct.
  names = {'oversampling', 'power_iterations', 'max_rank', 'block_columns', 'block_rows', 'resident_rows', ...
           'merge_width', 'probes', 'seed', 'tolerance', 'smallest_ratio', 'class', 'method', ...
           'orthonormalization', 'sketch', 'sign', 'error', 'one_pass', 'iteration_precision', 'restart', ...
           'omega', 'read_rate', 'devices', 'progress'};
  opts = purlin.internal.options([names, more], given);
  if isfield(opts, 'omega')
    opts.omega = purlin.internal.matrix(opts.omega, 'omega');
  end
end
