function [labels, inertia, info] = graph_cluster(W, k, varargin)
%GRAPH_CLUSTER  Clusters of a graph by its eigenvectors.
%   labels = purlin.graph_cluster(W, k) has a number from 1 to K for each vertex of the graph of the symmetric weights W.
%   [labels, inertia, info] = purlin.graph_cluster(W, k, name, value, ...) also has the sum of squared distances from the
%   centres, and a report of the solve. Names are those of purlin.lanczos but 'kind', 'shift', 'ordering', 'known', 'start',
%   'solve', 'dtype' and 'check_symmetry', and
%     'assignment'  'k_means' or 'pivoted_qr'
%     'start_count' number of starts of k-means, 10; the best result stays. Pivoted QR has none and refuses them
%   Where 'restarts' were not enough there is a warning, purlin:noConvergence, and labels are those of the last iterate,
%   or 0 if fewer than K pairs were found (info.count).
%
%   Errors: as purlin.lanczos.
%
%   See also purlin.graph_embed, purlin.graph_k_means, purlin.graph_pivoted_qr, purlin.graph_bisect.
%
%   Example
%     W = sparse(kron(eye(3), ones(20)) - eye(60));   % three groups, and an edge from each to the next
%     W(20, 21) = 1;
%     W(40, 41) = 1;
%     W = max(W, W');
%     labels = purlin.graph_cluster(W, 3, 'seed', 1);
  purlin.internal.at_least(nargin, 2, 'graph_cluster');
  purlin.internal.whole(k, 'k', 1);
  opts = purlin.internal.lanczos_options(varargin, {'assignment', 'start_count', 'devices'}, {'shift'});
  if isfield(opts, 'start_count') && isfield(opts, 'assignment') && strcmp(opts.assignment, 'pivoted_qr')
    error('purlin:invalidArgument', 'start_count: is set, pivoted QR has none');
  end
  [labels, inertia, info] = purlin_mex('graph_cluster', purlin.internal.symmetric_matrix(W, 'W'), k, opts);
  purlin.internal.solved(info, 'graph_cluster');
end
