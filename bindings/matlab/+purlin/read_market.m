function A = read_market(path)
%READ_MARKET  A sparse matrix from a Matrix Market file, plain or compressed by gzip.
%   A = purlin.read_market(path)
%
%   Errors: purlin:io (with the number of a malformed line), purlin:notSupported (a dense array).
%
%   See also purlin.write_market.
%
%   Example
%     name = [tempname(), '.mtx.gz'];
%     purlin.write_market(sprand(30, 20, 0.1), name);
%     A = purlin.read_market(name);
%     delete(name);
  purlin.internal.at_least(nargin, 1, 'read_market');
  [rows, cols, values, m, n] = purlin_mex('read_market', path);
  A = sparse(rows, cols, values, m, n);
end
