function info = tt_plan_rayleigh(H, x, varargin)
%TT_PLAN_RAYLEIGH  The plan of purlin.tt_rayleigh: method, operations, bytes, workspace.
%   info = purlin.tt_plan_rayleigh(H, x, name, value, ...) takes the arguments of purlin.tt_rayleigh. The
%   zeros of H count.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_plan_inner, purlin.tt_rayleigh.
%
%   Example
%     x = {rand(1, 2, 3), rand(3, 2)};
%     info = purlin.tt_plan_rayleigh(purlin.tt_ising(2, 1, 1), x);
  purlin.internal.at_least(nargin, 2, 'tt_plan_rayleigh');
  opts = purlin.internal.tt_options(varargin, 'a Rayleigh quotient', {'norm_method', 'conjugate', 'kernel'});
  info = purlin_mex('tt_plan_rayleigh', purlin.internal.train(H), purlin.internal.train(x), opts);
end
