function A = read_edges(path, weighted)
%READ_EDGES  A sparse matrix from a list of edges: two vertices a line, counted from 0, and with WEIGHTED a value.
%   A = purlin.read_edges(path) has a 1 for each edge, more where it is listed more than once. A is square, as large as the
%   largest vertex asks for. Lines that begin with # are comments.
%   A = purlin.read_edges(path, true) takes the values of a third column.
%
%   Errors: purlin:io (the line of what is malformed is named).
%
%   See also purlin.write_edges, purlin.read_market, purlin.symmetrise.
%
%   Example
%     W = purlin.symmetrise(purlin.read_edges('graph.txt'), 'union');
  if nargin < 2
    weighted = false;
  end
  [rows, cols, values, m, n] = purlin_mex('read_edges', path, weighted);
  A = sparse(rows, cols, values, m, n);
end
