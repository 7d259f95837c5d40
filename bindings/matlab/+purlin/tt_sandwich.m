function [value, info] = tt_sandwich(y, H, x, varargin)
%TT_SANDWICH  <y|H|x>: an operator between two tensor trains, y conjugated.
%   value = purlin.tt_sandwich(y, H, x)
%   [value, info] = purlin.tt_sandwich(y, H, x, name, value, ...) also has the method and why, operations and bytes.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s, which are used in place.
%   H is a purlin.TTMatrix or a cell array of cores w-by-m-by-n-by-v.
%   A number beyond the range of its class is Inf or 0, which info.outcome says.
%   Names:
%     'method'        'auto' (default), 'open', 'full', 'reduced', 'blocked'
%     'scaling'          'auto' (default), 'always', 'never': powers of two that keep long trains from overflowing
%     'conjugate'        'bra' (default), 'none'
%     'cut', 'block', 'workspace_limit'   bond at which a ring is cut, boundary pairs at a time, bytes
%     'repeat'           how often the cores are gone round, for uniform trains
%     'progress'         @(step, steps, measure) that returns true to cancel
%
%   Errors: purlin:invalidArgument, purlin:numerical (a number that is not finite), purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_sandwich_scaled, purlin.TT.
%
%   Example
%     x = {rand(1, 2, 3), rand(3, 2)};
%     e = purlin.tt_sandwich(x, purlin.tt_ising(2, 1, 1), x);
  purlin.internal.at_least(nargin, 3, 'tt_sandwich');
  opts = purlin.internal.tt_options(varargin, 'a sandwich', {'norm_method', 'kernel'});
  [value, info] = purlin_mex('tt_sandwich', purlin.internal.train(y), purlin.internal.train(H), purlin.internal.train(x), opts, false);
end
