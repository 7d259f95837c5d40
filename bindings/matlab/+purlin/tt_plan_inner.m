function info = tt_plan_inner(x, y, varargin)
%TT_PLAN_INNER  The plan of purlin.tt_inner: method, operations, bytes, workspace.
%   info = purlin.tt_plan_inner(x, y, name, value, ...) takes the arguments of purlin.tt_inner.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_inner, purlin.tt_plan_norm, purlin.tt_plan_batch, purlin.tt_plan_sandwich.
%
%   Example
%     x = {rand(4, 2, 4), rand(4, 2, 4)};
%     info = purlin.tt_plan_inner(x, x);
  purlin.internal.at_least(nargin, 2, 'tt_plan_inner');
  opts = purlin.internal.tt_options(varargin, 'an inner product', {'norm_method', 'assume_hermitian'});
  info = purlin_mex('tt_plan_inner', purlin.internal.train(x), purlin.internal.train(y), opts);
end
