function [value, info] = tt_inner(x, y, varargin)
%TT_INNER  Inner product of tensor trains: the sum over all entries of conj(x) times y.
%   value = purlin.tt_inner(x, y)
%   [value, info] = purlin.tt_inner(x, y, name, value, ...) also has the method and why, operations and bytes.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s, which are used in place.
%   A number beyond the range of its class is Inf or 0, which info.outcome says.
%   Names:
%     'method'        'auto' (default), 'open', 'full', 'reduced', 'blocked', 'halves', 'power'
%     'scaling'          'auto' (default), 'always', 'never': powers of two that keep long trains from overflowing
%     'conjugate'        'bra' (default), 'none'
%     'math'             'default' (default); on GPUs 'tf32', 'tf32x3', 'gemm3m', 'int8x6', as in the book
%     'norm_method'         'auto' (default), 'inner', 'triangle', 'qr': of norms
%     'kernel'           'auto' (default), 'products', 'chain': on GPUs
%     'assume_hermitian' false (default): true saves work in expectation values
%     'cut', 'block', 'workspace_limit'   bond at which a ring is cut, boundary pairs at a time, bytes
%     'repeat'           how often the cores are gone round, for uniform trains, default 1
%     'devices'          ordinals of further GPUs, among which pairs of a ring and host trains of a batch are shared
%     'progress'         @(step, steps, measure) that returns true to cancel
%   A purlin.TTContraction in place of the names has them, and keeps plan and workspace from call to call.
%
%   Errors: purlin:invalidArgument, purlin:numerical (a number that is not finite), purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_inner_scaled, purlin.TT.
%
%   Example
%     x = {rand(1, 2, 3), rand(3, 2)};
%     v = purlin.tt_inner(x, x);
  purlin.internal.at_least(nargin, 2, 'tt_inner');
  opts = purlin.internal.tt_options(varargin);
  [value, info] = purlin_mex('tt_inner', purlin.internal.train(x), purlin.internal.train(y), opts, false);
end
