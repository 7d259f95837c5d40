function yes = is_symmetric(A, tolerance)
%IS_SYMMETRIC  Whether a sparse matrix is symmetric, within a tolerance.
%   yes = purlin.is_symmetric(A) is whether A, sparse or a purlin.Matrix, is A': Hermitian if complex.
%   yes = purlin.is_symmetric(A, tolerance) lets values differ by TOLERANCE times the largest modulus; there must be entries at the
%   same places on both sides of the diagonal all the same. A rectangular matrix is not symmetric.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also issymmetric, purlin.symmetrize.
%
%   Example
%     W = sprand(100, 100, 0.05);
%     if ~purlin.is_symmetric(W, 1e-12)
%       W = purlin.symmetrize(W, 'average');
%     end
  purlin.internal.at_least(nargin, 1, 'is_symmetric');
  if nargin < 2
    tolerance = 0;
  end
  yes = purlin_mex('matrix_is_symmetric', purlin.internal.matrix(A, 'A'), tolerance);
end
