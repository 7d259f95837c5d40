function opts = tt_options(given)
%TT_OPTIONS  The options of contractions of tensor trains, from name/value pairs or a struct.
  names = {'algorithm', 'scaling', 'conjugate', 'math', 'norm_way', 'kernel', 'assume_hermitian', 'cut', 'block', 'repeat', ...
           'workspace_limit', 'progress'};
  opts = purlin.internal.options(names, given);
end
