function A = read_market(path)
%READ_MARKET  A sparse matrix from a Matrix Market file, plain or compressed by gzip.
%   A = purlin.read_market(path)
%
%   Errors: purlin:io (the line of what is malformed is named), purlin:notSupported (a dense array).
%
%   See also purlin.write_market.
%
%   Example
%     A = purlin.read_market('graph.mtx.gz');
  [rows, cols, values, m, n] = purlin_mex('read_market', path);
  A = sparse(rows, cols, values, m, n);
end
