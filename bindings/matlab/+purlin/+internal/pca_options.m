function [opts, own] = pca_options(given, more)
%PCA_OPTIONS  Options of principal components from name/value pairs or a struct: those of the decomposition, and in OWN those of
%   the model, whose names the decomposition may have too, and the names in the cell MORE.
  names = [{'samples', 'center', 'scale', 'whiten'}, more];
  opts = purlin.internal.rsvd_options(given, names);
  own = struct();
  for n = 1:numel(names)
    if isfield(opts, names{n})
      own.(names{n}) = opts.(names{n});
      opts = rmfield(opts, names{n});
    end
  end
end
