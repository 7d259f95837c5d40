function info = tt_plan_norm(x, varargin)
%TT_PLAN_NORM  The plan of purlin.tt_norm: method, operations, bytes, workspace.
%   info = purlin.tt_plan_norm(x, name, value, ...) takes the arguments of purlin.tt_norm. The
%   name 'norm_method' says which method is meant.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_plan_inner, purlin.tt_norm.
%
%   Example
%     x = {rand(4, 2, 4), rand(4, 2, 4)};
%     info = purlin.tt_plan_norm(x, 'norm_method', 'qr');
  purlin.internal.at_least(nargin, 1, 'tt_plan_norm');
  opts = purlin.internal.tt_options(varargin, 'a norm', {'conjugate', 'assume_hermitian'});
  info = purlin_mex('tt_plan_norm', purlin.internal.train(x), opts);
end
