function write_edges(A, path, symmetric)
%WRITE_EDGES  Writes the entries of a real sparse matrix as a list of edges: row, column, both from 0, and the value.
%   purlin.write_edges(A, path)
%   purlin.write_edges(A, path, true) writes each edge of a symmetric matrix once.
%   The file is compressed by gzip if its name ends in .gz.
%
%   Errors: purlin:io, purlin:invalidArgument.
%
%   See also purlin.read_edges, purlin.write_market.
%
%   Example
%     W = sparse(kron(eye(2), ones(20)) - eye(40));   % two groups, and one edge between them
%     W(20, 21) = 1;
%     W(21, 20) = 1;
%     name = tempname();
%     purlin.write_edges(W, name, true);
%     delete(name);
  purlin.internal.at_least(nargin, 2, 'write_edges');
  if nargin < 3
    symmetric = false;
  end
  purlin_mex('write_edges', purlin.internal.matrix(A, 'A'), path, symmetric);
end
