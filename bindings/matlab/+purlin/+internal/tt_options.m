function opts = tt_options(given)
%TT_OPTIONS  The options of contractions of tensor trains, from name/value pairs or a struct; or a kept contraction's key.
  if numel(given) == 1 && isa(given{1}, 'purlin.TTContraction')
    opts = given{1}.key;
    return;
  end
  names = {'method', 'scaling', 'conjugate', 'math', 'norm_method', 'kernel', 'assume_hermitian', 'cut', 'block', 'repeat', ...
           'workspace_limit', 'devices', 'progress'};
  opts = purlin.internal.options(names, given);
end
