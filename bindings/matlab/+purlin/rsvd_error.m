function [frobenius, spectral] = rsvd_error(A, U, S, V, varargin)
%RSVD_ERROR  How far factors are from a matrix, from random probes: one pass over it.
%   frobenius = purlin.rsvd_error(A, U, S, V) estimates norm(A - U*S*V', 'fro'). S is diagonal, or a vector.
%   [frobenius, spectral] = ... also has an upper bound of norm(A - U*S*V'), mostly some 20 times too large.
%   [frobenius, spectral] = purlin.rsvd_error(A, U, S, V, 'error', 'power') has an estimate of it from below, by power
%   iteration: 11 passes.
%   purlin.rsvd_error(A, U, S, V, 'probes', 20, 'seed', 1) takes more probes than 10, and others.
%
%   Errors: as purlin.rsvd.
%
%   See also purlin.rsvd, purlin.rsvd_residuals.
%
%   Example
%     A = randn(200, 30) * randn(30, 100);
%     [U, S, V] = purlin.rsvd(A, 20);
%     purlin.rsvd_error(A, U, S, V)
  purlin.internal.at_least(nargin, 4, 'rsvd_error');
  opts = purlin.internal.rsvd_options(varargin, {'center', 'scale'});
  given = purlin.internal.matrix(A, 'A');
  [frobenius, spectral] = purlin_mex('rsvd_error', given, U, purlin.internal.values(S), V, opts);
end
