function [value, info] = tt_norm(x, varargin)
%TT_NORM  Norm of a tensor train.
%   value = purlin.tt_norm(x)
%   [value, info] = purlin.tt_norm(x, name, value, ...) also has the method and why, operations and bytes.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s, which are used in place.
%   A number beyond the range of its class is Inf or 0, which info.outcome says.
%   Names:
%     'method'        'auto' (default), 'open', 'full', 'reduced', 'blocked', 'halves', 'power'
%     'scaling'          'auto' (default), 'always', 'never': powers of two that keep long trains from overflowing
%     'cut', 'block', 'workspace_limit'   bond at which a ring is cut, boundary pairs at a time, bytes
%     'repeat'           how often the cores are gone round, for uniform trains
%     'progress'         @(step, steps, measure) that returns true to cancel
%
%   Errors: purlin:invalidArgument, purlin:numerical (a number that is not finite), purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_norm_scaled, purlin.TT.
%
%   Example
%     v = purlin.tt_norm({rand(1, 2, 3), rand(3, 2)});
  purlin.internal.at_least(nargin, 1, 'tt_norm');
  opts = purlin.internal.tt_options(varargin);
  [value, info] = purlin_mex('tt_norm', purlin.internal.train(x), opts, false);
end
