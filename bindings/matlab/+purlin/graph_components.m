function [labels, count] = graph_components(W)
%GRAPH_COMPONENTS  Connected components of the graph whose edges are the entries of a sparse matrix.
%   [labels, count] = purlin.graph_components(W) numbers them from 1 by their lowest vertices; directions do not matter.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.graph_component, purlin.graph_cluster.
%
%   Example
%     W = sparse(kron(eye(2), ones(20)));   % two graphs
%     labels = purlin.graph_components(W);
%     largest = labels == mode(labels);
  purlin.internal.at_least(nargin, 1, 'graph_components');
  [labels, count] = purlin_mex('graph_components', purlin.internal.matrix(W, 'W'));
end
