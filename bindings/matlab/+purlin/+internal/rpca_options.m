function [opts, mask] = rpca_options(given, more)
%RPCA_OPTIONS  The options of robust PCA, and the names in MORE, from name/value pairs or a struct; and the mask as a matrix.
  names = [purlin.internal.option_names('rpca'), {'progress', 'mask', 'devices'}];
  opts = purlin.internal.options([names, more], given);
  mask = [];
  if isfield(opts, 'mask') && ~isempty(opts.mask)
    mask = purlin.internal.matrix(opts.mask, 'mask');
  end
end
