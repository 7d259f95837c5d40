function [value, info] = tt_distance(x, y, varargin)
%TT_DISTANCE  Norm of the difference of two tensor trains, exact also where they nearly agree.
%   value = purlin.tt_distance(x, y)
%   [value, info] = purlin.tt_distance(x, y, name, value, ...) also has the method and why, operations and bytes.
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
%   See also purlin.tt_distance_scaled, purlin.TT.
%
%   Example
%     x = {rand(1, 2, 3), rand(3, 2)};
%     purlin.tt_distance(x, x)
  purlin.internal.at_least(nargin, 2, 'tt_distance');
  opts = purlin.internal.tt_options(varargin);
  [value, info] = purlin_mex('tt_distance', purlin.internal.train(x), purlin.internal.train(y), opts, false);
end
