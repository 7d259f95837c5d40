function info = rsvd_plan(A, k, varargin)
%RSVD_PLAN  The plan of purlin.rsvd: method and why, passes, bytes, blocks, memory.
%   info = purlin.rsvd_plan(A, k, name, value, ...) takes the arguments of purlin.rsvd, and
%     'with_u', 'with_v'  true (default): of a call with U, and with V; false: without, which may take less memory
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
  opts = purlin.internal.rsvd_options(varargin, {'center', 'scale', 'with_u', 'with_v'});
  wanted = {true, true};
  names = {'with_u', 'with_v'};
  for n = 1:2
    if isfield(opts, names{n})
      wanted{n} = opts.(names{n});
      opts = rmfield(opts, names{n});
    end
  end
  info = purlin_mex('rsvd_plan', purlin.internal.matrix(A, 'A'), purlin.internal.rank_of(k, 'k'), opts, wanted{:});
end
