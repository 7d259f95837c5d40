function info = rsvd_plan(A, k, varargin)
%RSVD_PLAN  What purlin.rsvd would do: method and why, passes, bytes, blocks, memory.
%   info = purlin.rsvd_plan(A, k, name, value, ...) takes what purlin.rsvd takes.
%
%   Errors: as purlin.rsvd.
%
%   See also purlin.rsvd.
%
%   Example
%     info = purlin.rsvd_plan(struct('file', 'a.raw', 'size', [4e6 2048], 'class', 'double'), 64);
%     info.method, info.reason, info.passes
  opts = purlin.internal.rsvd_options(varargin, {'center', 'scale'});
  info = purlin_mex('rsvd_plan', purlin.internal.matrix(A, 'A'), purlin.internal.rank_of(k, 'k'), opts);
end
