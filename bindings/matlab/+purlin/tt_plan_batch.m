function info = tt_plan_batch(x, y, varargin)
%TT_PLAN_BATCH  The plan of purlin.tt_inner_batch: method, operations, bytes, workspace.
%   info = purlin.tt_plan_batch(x, y, name, value, ...) takes the arguments of purlin.tt_inner_batch. Method
%   and kernel are those of the first pair, the rest of all together.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_plan_inner, purlin.tt_inner_batch.
%
%   Example
%     x = {{rand(1, 2, 3), rand(3, 2)}, {rand(1, 2, 2), rand(2, 2)}};
%     info = purlin.tt_plan_batch(x, x);
  purlin.internal.at_least(nargin, 2, 'tt_plan_batch');
  opts = purlin.internal.tt_options(varargin, 'a batch', {'norm_method', 'assume_hermitian'});
  info = purlin_mex('tt_plan_gram', purlin.internal.trains(x, 'x'), purlin.internal.trains(y, 'y'), opts, true);
end
