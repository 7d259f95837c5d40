function [X, values, info] = graph_embed(W, k, varargin)
%GRAPH_EMBED  Coordinates of the vertices of a graph, in which those that hang together lie together.
%   X = purlin.graph_embed(W, k) has K columns: eigenvectors of the smallest eigenvalues of the normalized Laplacian of the
%   symmetric weights W.
%   [X, values, info] = purlin.graph_embed(W, k, name, value, ...) also has the eigenvalues, and a report of the solve. Names
%   are those of purlin.lanczos but 'kind', 'shift', 'ordering', 'known', 'start', 'solve', 'dtype' and 'check_symmetry', and
%   'scaling': 'none', 'unit_rows' (Ng, Jordan, Weiss) or 'degrees' (Shi, Malik). Where 'restarts' were not enough there is a
%   warning, purlin:noConvergence: X and values have info.count columns. The first info.converged are good.
%
%   Errors: as purlin.lanczos.
%
%   See also purlin.graph_cluster, purlin.lanczos.
%
%   Example
%     W = sparse(kron(eye(3), ones(20)) - eye(60));   % three groups, and an edge from each to the next
%     W(20, 21) = 1;
%     W(40, 41) = 1;
%     W = max(W, W');
%     X = purlin.graph_embed(W, 3);   % plot(X(:, 2), X(:, 3), '.') shows it
  purlin.internal.at_least(nargin, 2, 'graph_embed');
  purlin.internal.whole(k, 'k', 1);
  opts = purlin.internal.lanczos_options(varargin, {'scaling', 'devices'}, {'shift'});
  [X, values, info] = purlin_mex('graph_embed', purlin.internal.symmetric_matrix(W, 'W'), k, opts);
  purlin.internal.solved(info, 'graph_embed');
  X = X(:, 1:info.count);
  values = values(1:info.count);
end
