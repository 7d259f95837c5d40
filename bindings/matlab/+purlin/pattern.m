function P = pattern(A)
%PATTERN  The places of the entries of a sparse matrix.
%   P = purlin.pattern(A) is sparse and logical, true where A, sparse or a purlin.Matrix, has an entry. Products with P take 1
%   there, and read a third of the memory.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also spones, purlin.SpmvPlan.
%
%   Example
%     W = sprand(100, 100, 0.05);
%     y = purlin.spmv(purlin.pattern(W), ones(100, 1));
  purlin.internal.at_least(nargin, 1, 'pattern');
  [rows, cols, values, m, n] = purlin_mex('matrix_pattern', purlin.internal.matrix(A, 'A'));
  P = sparse(rows, cols, values ~= 0, m, n);
end
