function [opts, mask] = rpca_options(given, more)
%RPCA_OPTIONS  The options of robust PCA, and the names in MORE, from name/value pairs or a struct; and the mask as a matrix.
  names = {'lambda', 'tolerance', 'mu', 'rho', 'threshold', 'scale', 'max_iterations', 'max_rank', 'fixed_rank', ...
           'power_iterations', 'oversampling', 'block_rows', 'seed', 'warm_start', 'frames', 'class', 'progress', ...
           'mask', 'devices'};
  opts = purlin.internal.options([names, more], given);
  mask = [];
  if isfield(opts, 'mask') && ~isempty(opts.mask)
    mask = purlin.internal.matrix(opts.mask, 'mask');
  end
end
