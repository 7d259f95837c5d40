function [values, residuals, copies] = lanczos_cullum_willoughby(alpha, beta, cluster, converged)
%LANCZOS_CULLUM_WILLOUGHBY  Eigenvalues of a matrix among those of its plain Lanczos recurrence, by the test of Cullum and Willoughby.
%   values = purlin.lanczos_cullum_willoughby(alpha, beta) has, ascending, the eigenvalues of the tridiagonal matrix of
%   purlin.lanczos_tridiagonalize that are neither spurious nor unconverged, each once.
%   [values, residuals, copies] = purlin.lanczos_cullum_willoughby(alpha, beta, cluster, converged) also has estimates of their residuals,
%   and how many copies of each the recurrence made, which says nothing of multiplicities. Values nearer to each other than
%   CLUSTER (1e-12) times the largest are copies; residuals are at most CONVERGED (1e-6) times the largest.
%
%   Errors: purlin:invalidArgument, purlin:numerical.
%
%   See also purlin.lanczos_tridiagonalize, purlin.tridiagonal_eigenvalues.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     [alpha, beta] = purlin.lanczos_tridiagonalize(A, 200);
%     d = purlin.lanczos_cullum_willoughby(alpha, beta);
  purlin.internal.at_least(nargin, 2, 'lanczos_cullum_willoughby');
  if nargin < 3 || isempty(cluster)
    cluster = 1e-12;
  end
  if nargin < 4 || isempty(converged)
    converged = 1e-6;
  end
  [values, residuals, copies] = purlin_mex('lanczos_cullum_willoughby', alpha, beta, cluster, converged);
end
