function [labels, inertia] = graph_pivoted_qr(points)
%GRAPH_PIVOTED_QR  Clusters of the rows of a full matrix with orthonormal columns, by column-pivoted QR.
%   [labels, inertia] = purlin.graph_pivoted_qr(points) has a number from 1 to size(points, 2) for each row, and the sum of squared
%   distances from the centres. There is no start and no iteration.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.graph_k_means, purlin.graph_cluster.
%
%   Example
%     W = sparse(kron(eye(3), ones(20)) - eye(60));   % three groups, and an edge from each to the next
%     W(20, 21) = 1;
%     W(40, 41) = 1;
%     W = max(W, W');
%     labels = purlin.graph_pivoted_qr(purlin.graph_embed(W, 3));
  purlin.internal.at_least(nargin, 1, 'graph_pivoted_qr');
  [labels, inertia] = purlin_mex('graph_pivoted_qr', purlin.internal.matrix(purlin.internal.real_class(points, 'points'), 'points'));
end
