function value = matrix_norm(A, kind)
%MATRIX_NORM  A norm of a sparse matrix, in double precision.
%   value = purlin.matrix_norm(A) is the Frobenius norm of A, sparse or a purlin.Matrix.
%   value = purlin.matrix_norm(A, kind) with KIND 'frobenius', 'one' (largest sum of a column's moduli), 'infinity' (of a
%   row's) or 'max' (largest modulus). NaN if an entry is.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also norm, purlin.is_symmetric.
%
%   Example
%     W = sprand(100, 100, 0.05);
%     largest = purlin.matrix_norm(W, 'max');
  purlin.internal.at_least(nargin, 1, 'matrix_norm');
  if nargin < 2
    kind = 'frobenius';
  end
  value = purlin_mex('matrix_norm', purlin.internal.matrix(A, 'A'), kind);
end
