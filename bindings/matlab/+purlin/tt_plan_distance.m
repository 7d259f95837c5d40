function info = tt_plan_distance(x, y, varargin)
%TT_PLAN_DISTANCE  The plan of purlin.tt_distance: method, operations, bytes, workspace.
%   info = purlin.tt_plan_distance(x, y, name, value, ...) takes the arguments of purlin.tt_distance. No
%   element is read.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_plan_inner, purlin.tt_distance.
%
%   Example
%     x = {rand(4, 2, 4), rand(4, 2, 4)};
%     info = purlin.tt_plan_distance(x, x);
  purlin.internal.at_least(nargin, 2, 'tt_plan_distance');
  idle = {'norm_method', 'conjugate', 'assume_hermitian', 'method', 'kernel', 'block'};
  opts = purlin.internal.tt_options(varargin, 'a distance', idle);
  info = purlin_mex('tt_plan_distance', purlin.internal.train(x), purlin.internal.train(y), opts);
end
