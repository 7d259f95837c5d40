function B = drop_zeros(A, threshold)
%DROP_ZEROS  A sparse matrix without its small entries.
%   B = purlin.drop_zeros(A, threshold) has the entries of A, sparse or a purlin.Matrix, of modulus above THRESHOLD, and those that
%   are NaN. A logical A loses nothing. THRESHOLD is 0 unless given: sparse arrays hold no zeros anyway.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.graph_of_image, purlin.pattern.
%
%   Example
%     image = [zeros(12, 8), ones(12, 8)] + 0.01 * rand(12, 16);
%     W = purlin.drop_zeros(purlin.graph_of_image(image), 1e-6);
  purlin.internal.at_least(nargin, 1, 'drop_zeros');
  if nargin < 2
    threshold = 0;
  end
  [rows, cols, values, m, n] = purlin_mex('matrix_drop_zeros', purlin.internal.matrix(A, 'A'), threshold);
  B = sparse(rows, cols, double(values), m, n);
  if islogical(A) || (isa(A, 'purlin.Matrix') && describe(A).pattern)
    B = B ~= 0;
  end
end
