function [left, right] = rsvd_residuals(A, U, S, V, varargin)
%RSVD_RESIDUALS  Residuals of singular triplets: one pass over the matrix.
%   [left, right] = purlin.rsvd_residuals(A, U, S, V) has norm(A*v - s*u) and norm(A'*u - s*v) of each triplet.
%
%   Errors: as purlin.rsvd.
%
%   See also purlin.rsvd, purlin.rsvd_error.
%
%   Example
%     A = randn(200, 30) * randn(30, 100);
%     [U, S, V] = purlin.rsvd(A, 20);
%     left = purlin.rsvd_residuals(A, U, S, V);
  purlin.internal.at_least(nargin, 4, 'rsvd_residuals');
  opts = purlin.internal.rsvd_options(varargin, {'center', 'scale'});
  given = purlin.internal.matrix(A, 'A');
  [left, right] = purlin_mex('rsvd_residuals', given, U, purlin.internal.values(S), V, opts);
end
