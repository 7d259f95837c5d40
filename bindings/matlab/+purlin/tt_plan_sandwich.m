function info = tt_plan_sandwich(y, H, x, varargin)
%TT_PLAN_SANDWICH  The plan of purlin.tt_sandwich: method, operations, bytes, workspace.
%   info = purlin.tt_plan_sandwich(y, H, x, name, value, ...) takes the arguments of purlin.tt_sandwich. The
%   zeros of H count.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_plan_inner, purlin.tt_sandwich.
%
%   Example
%     x = {rand(1, 2, 3), rand(3, 2)};
%     info = purlin.tt_plan_sandwich(x, purlin.tt_ising(2, 1, 1), x);
  purlin.internal.at_least(nargin, 3, 'tt_plan_sandwich');
  opts = purlin.internal.tt_options(varargin, 'a sandwich', {'norm_method', 'kernel'});
  info = purlin_mex('tt_plan_sandwich', purlin.internal.train(y), purlin.internal.train(H), purlin.internal.train(x), opts);
end
