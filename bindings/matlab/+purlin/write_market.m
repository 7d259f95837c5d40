function write_market(A, path, symmetric)
%WRITE_MARKET  Writes a sparse matrix to a Matrix Market file, its values with all their digits.
%   purlin.write_market(A, path)
%   purlin.write_market(A, path, true) writes the lower triangle of a symmetric matrix.
%   The file is compressed by gzip if its name ends in .gz.
%
%   Errors: purlin:invalidArgument, purlin:io.
%
%   See also purlin.read_market.
%
%   Example
%     A = sprand(100, 100, 0.05);
%     name = tempname();
%     purlin.write_market(A + A', name, true);
%     delete(name);
  purlin.internal.at_least(nargin, 2, 'write_market');
  if nargin < 3
    symmetric = false;
  end
  purlin_mex('write_market', purlin.internal.matrix(A, 'A'), path, symmetric);
end
