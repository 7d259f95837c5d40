function [V, D, info] = rsvd_symmetric(A, k, varargin)
%RSVD_SYMMETRIC  The eigenvalues of largest modulus of a Hermitian matrix, and their vectors.
%   d = purlin.rsvd_symmetric(A, k) is a column of K eigenvalues.
%   [V, D] = purlin.rsvd_symmetric(A, k) has A*V ~ V*D with D diagonal, as eigs does.
%   [V, D, info] = purlin.rsvd_symmetric(A, k, name, value, ...) takes the names of purlin.rsvd; 'method' is 'auto',
%   'rayleigh' (any Hermitian matrix) or 'nystrom' (positive semidefinite ones only, more accurate).
%
%   Errors: as purlin.rsvd.
%
%   See also purlin.rsvd, eigs.
%
%   Example
%     A = randn(100, 10);
%     A = A * A';
%     [V, D] = purlin.rsvd_symmetric(A, 5);
  purlin.internal.at_least(nargin, 2, 'rsvd_symmetric');
  opts = purlin.internal.rsvd_options(varargin, {});
  purlin.internal.whole(k, 'k', 1);
  given = purlin.internal.matrix(A, 'A');
  if nargout < 2
    V = purlin_mex('rsvd_symmetric', given, k, opts);
  else
    [d, V, info] = purlin_mex('rsvd_symmetric', given, k, opts);
    D = diag(d);
  end
end
