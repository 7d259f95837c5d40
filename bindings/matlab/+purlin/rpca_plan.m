function info = rpca_plan(M, varargin)
%RPCA_PLAN  The plan of purlin.rpca: memory in bytes, blocks, devices.
%   info = purlin.rpca_plan(M, name, value, ...) takes the arguments of purlin.rpca but 'low_rank' and 'sparse'. INFO is
%   the struct of purlin.rpca: host_bytes, device_bytes, blocks, block_rows and contexts are filled in, the rest is 0. No entry
%   is read, and an accepted run stays inside the limits of memory.
%
%   Errors: as purlin.rpca.
%
%   See also purlin.rpca.
%
%   Example
%     info = purlin.rpca_plan(rand(300, 40));
%     info.host_bytes, info.blocks
  purlin.internal.at_least(nargin, 1, 'rpca_plan');
  [opts, mask] = purlin.internal.rpca_options(varargin, {});
  info = purlin_mex('rpca_plan', purlin.internal.matrix(M, 'M'), mask, opts);
end
