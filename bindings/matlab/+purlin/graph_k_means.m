function [labels, inertia] = graph_k_means(points, k, varargin)
%GRAPH_K_MEANS  Clusters of the rows of a full matrix, by k-means++ and Lloyd's iteration.
%   labels = purlin.graph_k_means(points, k) has a number from 1 to K for each row.
%   [labels, inertia] = purlin.graph_k_means(points, k, name, value, ...) also has the sum of squared distances from the centres.
%   Names: 'start_count', the number of starts, 10; the best result stays. And and 'seed'.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.graph_embed, purlin.graph_cluster.
%
%   Example
%     W = sparse(kron(eye(3), ones(20)) - eye(60));   % three groups, and an edge from each to the next
%     W(20, 21) = 1;
%     W(40, 41) = 1;
%     W = max(W, W');
%     labels = purlin.graph_k_means(purlin.graph_embed(W, 3, 'scaling', 'unit_rows'), 3);
  purlin.internal.at_least(nargin, 2, 'graph_k_means');
  purlin.internal.whole(k, 'k', 1);
  opts = purlin.internal.options({'start_count', 'seed'}, varargin);
  if ~isfield(opts, 'start_count')
    opts.start_count = 10;
  end
  if ~isfield(opts, 'seed')
    opts.seed = 0;
  end
  [labels, inertia] = purlin_mex('graph_k_means', purlin.internal.matrix(purlin.internal.real_class(points, 'points'), 'points'), k, opts.start_count, opts.seed);
end
