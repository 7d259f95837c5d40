function [labels, count] = graph_components(W)
%GRAPH_COMPONENTS  Connected components of the graph whose edges are the entries of a sparse matrix.
%   [labels, count] = purlin.graph_components(W) numbers them from 1 by their lowest vertices; directions do not matter.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.graph_component, purlin.graph_cluster.
%
%   Example
%     largest = labels == mode(purlin.graph_components(W));
  [labels, count] = purlin_mex('graph_components', purlin.internal.matrix(W, 'W'));
end
