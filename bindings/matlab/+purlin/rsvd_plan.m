function info = rsvd_plan(A, k, varargin)
%RSVD_PLAN  The plan of purlin.rsvd: method and why, passes, bytes, blocks, memory.
%   info = purlin.rsvd_plan(A, k, name, value, ...) takes the arguments of purlin.rsvd.
%
%   Errors: as purlin.rsvd.
%
%   See also purlin.rsvd.
%
%   Example
%     A = rand(2000, 300);
%     info = purlin.rsvd_plan(A, 64);
%     info.method, info.reason, info.passes
  purlin.internal.at_least(nargin, 2, 'rsvd_plan');
  opts = purlin.internal.rsvd_options(varargin, {'center', 'scale'});
  info = purlin_mex('rsvd_plan', purlin.internal.matrix(A, 'A'), purlin.internal.rank_of(k, 'k'), opts);
end
