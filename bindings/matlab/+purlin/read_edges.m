function [A, vertices] = read_edges(path, varargin)
%READ_EDGES  A sparse matrix from a list of edges: two vertices a line, and a value where edges are weighted.
%   A = purlin.read_edges(path) has a 1 for each edge, also for one that is listed several times. Vertices count from 0 in the
%   file: vertex v is row v + 1. A is square, as large as the largest vertex asks for. Lines that begin with # or % are comments.
%   A = purlin.read_edges(path, true) takes the values of a third column.
%   [A, vertices] = purlin.read_edges(...) numbers the vertices in the order in which they first come: row k is the vertex that
%   the file calls vertices(k). The way for numbers with gaps.
%   purlin.read_edges(path, name, value, ...): 'weighted', false by default, and 'duplicates', the rule for the values of an
%   edge that is listed several times: 'first' (default), 'sum', 'last', 'max' or 'refuse'.
%
%   Errors: purlin:io (with the number of a malformed line), purlin:invalidArgument.
%
%   See also purlin.write_edges, purlin.read_market, purlin.symmetrize.
%
%   Example
%     name = tempname();
%     file = fopen(name, 'w');
%     fprintf(file, '%d %d\n', [70 10; 70 20; 30 70]');
%     fclose(file);
%     [A, vertices] = purlin.read_edges(name);
%     W = purlin.symmetrize(A, 'union');
%     delete(name);
  purlin.internal.at_least(nargin, 1, 'read_edges');
  given = varargin;
  if mod(numel(given), 2) == 1 && ~isstruct(given{1})
    given = [{'weighted'}, given];
  end
  opts = purlin.internal.options({'weighted', 'duplicates'}, given);
  if ~isfield(opts, 'weighted')
    opts.weighted = false;
  end
  if ~isfield(opts, 'duplicates')
    opts.duplicates = 'first';
  end
  [rows, cols, values, m, n, vertices] = ...
    purlin_mex('read_edges', path, opts.weighted, opts.duplicates, nargout > 1);
  A = sparse(rows, cols, values, m, n);
end
