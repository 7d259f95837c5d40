function [values, first, last] = tridiagonal_eigenvalues(diagonal, off)
%TRIDIAGONAL_EIGENVALUES  Eigenvalues of a symmetric tridiagonal matrix.
%   values = purlin.tridiagonal_eigenvalues(diagonal, off) has them ascending; OFF is one shorter than DIAGONAL.
%   [values, first, last] = purlin.tridiagonal_eigenvalues(...) also has the first and last components of the eigenvectors of
%   norm 1: all that the quadrature and the residuals of a Lanczos recurrence need, in O(m^2).
%
%   Errors: purlin:invalidArgument, purlin:numerical.
%
%   See also purlin.lanczos_tridiagonalize, purlin.lanczos_cullum_willoughby.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     [alpha, beta] = purlin.lanczos_tridiagonalize(A, 50);
%     [ritz, first, last] = purlin.tridiagonal_eigenvalues(alpha, beta(1:end-1));
%     residuals = abs(beta(end) * last);
  purlin.internal.at_least(nargin, 2, 'tridiagonal_eigenvalues');
  [values, first, last] = purlin_mex('tridiagonal_eigenvalues', diagonal, off);
end
