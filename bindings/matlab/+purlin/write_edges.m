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
%     purlin.write_edges(W, 'graph.txt', true);
  if nargin < 3
    symmetric = false;
  end
  purlin_mex('write_edges', purlin.internal.matrix(A, 'A'), path, symmetric);
end
