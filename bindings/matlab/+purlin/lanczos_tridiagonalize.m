function [alpha, beta] = lanczos_tridiagonalize(A, steps, varargin)
%LANCZOS_TRIDIAGONALIZE  Coefficients of the plain Lanczos recurrence of a symmetric or Hermitian matrix.
%   [alpha, beta] = purlin.lanczos_tridiagonalize(A, steps) has the diagonal of the tridiagonal matrix in ALPHA and the
%   subdiagonal in BETA, whose last element leads out of it. Vectors are not reorthogonalized: eigenvalues of the matrix are
%   those of A, copies of these, and spurious ones. There are fewer elements than STEPS where the space is exhausted.
%   [alpha, beta] = purlin.lanczos_tridiagonalize(A, steps, name, value, ...): 'kind', 'shift', 'seed', 'ordering' and 'progress'
%   as for purlin.lanczos.
%
%   Errors: purlin:invalidArgument, purlin:numerical, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.lanczos_cullum_willoughby, purlin.tridiagonal_eigenvalues, purlin.graph_density.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     [alpha, beta] = purlin.lanczos_tridiagonalize(A, 50);
%     ritz = eig(diag(alpha) + diag(beta(1:end-1), 1) + diag(beta(1:end-1), -1));
  purlin.internal.at_least(nargin, 2, 'lanczos_tridiagonalize');
  purlin.internal.whole(steps, 'steps', 1);
  opts = purlin.internal.options({'kind', 'shift', 'seed', 'ordering', 'progress'}, varargin);
  [alpha, beta, count] = purlin_mex('lanczos_tridiagonalize', purlin.internal.operand(A, opts), steps, opts);
  alpha = alpha(1:count);
  beta = beta(1:count);
end
