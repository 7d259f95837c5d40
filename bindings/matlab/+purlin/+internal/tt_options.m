function opts = tt_options(given, call, idle)
%TT_OPTIONS  The options of contractions of tensor trains, from name/value pairs or a struct; or a kept contraction's key.
%   Options whose names are in the cell IDLE have no effect on CALL and are refused, where the library does not do so.
  if numel(given) == 1 && isa(given{1}, 'purlin.TTContraction')
    opts = given{1}.key;
    return;
  end
  names = [purlin.internal.option_names('train'), {'devices', 'progress'}];
  opts = purlin.internal.options(names, given);
  if nargin < 2
    return;
  end
  defaults = struct('norm_method', 'auto', 'conjugate', 'bra', 'assume_hermitian', false, 'method', 'auto', ...
                    'kernel', 'auto', 'block', 0);
  if ~any(strcmp(idle, 'norm_method')) && isfield(opts, 'norm_method') && isequal(opts.norm_method, 'qr')
    % QR factors of one train.
    [call, idle] = deal([call ' by QR factors'], [idle, {'method', 'kernel', 'block'}]);
  end
  for k = 1:numel(idle)
    name = idle{k};
    if isfield(opts, name) && ~isempty(opts.(name)) && ~isequal(opts.(name), defaults.(name))
      error('purlin:invalidArgument', '%s: is set, %s does not use it', name, call);
    end
  end
end
