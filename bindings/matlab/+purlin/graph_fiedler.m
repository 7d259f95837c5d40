function [v, value, info] = graph_fiedler(W, varargin)
%GRAPH_FIEDLER  The Fiedler vector of a graph: the second eigenvector of its Laplacian.
%   v = purlin.graph_fiedler(W) is of D - W, W being symmetric weights and D the diagonal of their sums.
%   [v, value, info] = purlin.graph_fiedler(W, name, value, ...) also has the eigenvalue, and a report of the solve. Names are
%   those of purlin.lanczos but 'kind', 'shift', 'ordering', 'known', 'start', 'solve', 'dtype' and 'check_symmetry', and
%   'normalized': true for the normalized Laplacian, over the roots of the degrees. Where 'restarts' were not enough there is a
%   warning, purlin:noConvergence, and v is the last iterate, or NaN if none was found (info.count is 0).
%
%   Errors: as purlin.lanczos.
%
%   See also purlin.graph_bisect.
%
%   Example
%     W = sparse(kron(eye(2), ones(20)) - eye(40));   % two groups, and one edge between them
%     W(20, 21) = 1;
%     W(21, 20) = 1;
%     sides = purlin.graph_bisect(W, purlin.graph_fiedler(W));
  purlin.internal.at_least(nargin, 1, 'graph_fiedler');
  opts = purlin.internal.lanczos_options(varargin, {'normalized', 'devices'}, {'shift'});
  normalized = false;
  if isfield(opts, 'normalized')
    normalized = opts.normalized;
  end
  [value, v, info] = purlin_mex('graph_fiedler', purlin.internal.symmetric_matrix(W, 'W'), normalized, opts);
  purlin.internal.solved(info, 'graph_fiedler');
end
