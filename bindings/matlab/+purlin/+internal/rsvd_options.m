function opts = rsvd_options(given, more)
%RSVD_OPTIONS  The options of the randomized SVD, and the names in MORE, from name/value pairs or a struct.
  names = [purlin.internal.option_names('common'), {'omega', 'devices', 'progress'}];
  opts = purlin.internal.options([names, more], given);
  if isfield(opts, 'omega')
    opts.omega = purlin.internal.matrix(opts.omega, 'omega');
  end
end
