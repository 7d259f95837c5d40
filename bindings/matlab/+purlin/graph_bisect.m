function [sides, cut, ratio] = graph_bisect(W, v, method)
%GRAPH_BISECT  Cuts a graph in two by a vector.
%   sides = purlin.graph_bisect(W, v) is 1 or 2 for each vertex, cut where the normalized cut is least.
%   [sides, cut, ratio] = purlin.graph_bisect(W, v, method) also has the weight of the edges between the sides, each once, and
%   cut/vol(S) + cut/vol(rest). METHOD is 'sweep', 'sign' or 'median'.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.graph_fiedler.
%
%   Example
%     W = sparse(kron(eye(2), ones(20)) - eye(40));   % two groups, and one edge between them
%     W(20, 21) = 1;
%     W(21, 20) = 1;
%     [sides, cut] = purlin.graph_bisect(W, purlin.graph_fiedler(W), 'sign');
  purlin.internal.at_least(nargin, 2, 'graph_bisect');
  if nargin < 3
    method = 'sweep';
  end
  [sides, cut, ratio] = purlin_mex('graph_bisect', purlin.internal.symmetric_matrix(W, 'W'), v, method);
end
