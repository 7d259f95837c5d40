function omega = rsvd_sketch(rows, columns, varargin)
%RSVD_SKETCH  The random matrix that a run draws.
%   omega = purlin.rsvd_sketch(rows, columns, name, value, ...) with 'seed' (0), 'sketch' ('gaussian'), 'dtype'
%   ('double'). Every entry depends on the seed and its own place alone.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.rsvd.
%
%   Example
%     A = randn(200, 30) * randn(30, 100);
%     omega = purlin.rsvd_sketch(size(A, 2), 30, 'seed', 7);
%     [U, S, V] = purlin.rsvd(A, 20, 'omega', omega);
  purlin.internal.at_least(nargin, 2, 'rsvd_sketch');
  opts = purlin.internal.options({'seed', 'sketch', 'dtype'}, varargin);
  omega = purlin_mex('rsvd_sketch', rows, columns, opts);
end
