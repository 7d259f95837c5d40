function opts = tt_options(given)
%TT_OPTIONS  The options of contractions of tensor trains, from name/value pairs or a struct; or a kept contraction's key.
  if numel(given) == 1 && isa(given{1}, 'purlin.TTContraction')
    opts = given{1}.key;
    return;
  end
  names = [purlin.internal.option_names('train'), {'devices', 'progress'}];
  opts = purlin.internal.options(names, given);
end
