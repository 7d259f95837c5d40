function [B, vertices] = graph_component(W, which)
%GRAPH_COMPONENT  One connected component of a graph as a graph of its own.
%   [B, vertices] = purlin.graph_component(W) has the largest component, W(vertices, vertices).
%   [B, vertices] = purlin.graph_component(W, which) has component WHICH, as purlin.graph_components numbers them.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.graph_components.
%
%   Example
%     W = sparse(kron(eye(2), ones(20)));   % two graphs
%     [B, vertices] = purlin.graph_component(W);
  purlin.internal.at_least(nargin, 1, 'graph_component');
  if nargin < 2 || isempty(which)
    which = 0;
  else
    purlin.internal.whole(which, 'which', 1);
  end
  [i, j, v, m, n, vertices] = purlin_mex('graph_component', purlin.internal.matrix(W, 'W'), which);
  B = sparse(i, j, v, m, n);
  if islogical(W)
    B = B ~= 0;
  end
end
