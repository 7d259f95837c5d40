function W = graph_operator_of_image(image, varargin)
%GRAPH_OPERATOR_OF_IMAGE  The graph of neighbouring pixels of an image, never formed.
%   W = purlin.graph_operator_of_image(image, name, value, ...) stands for the graph that purlin.graph_of_image(image, name,
%   value, ...) makes, for purlin.lanczos, spmv, SpmvPlan, graph_embed, graph_cluster, graph_fiedler and graph_density: one
%   weight for each pair of neighbours, and no indices; of class single for an image of that. W is a struct with the pixels.
%     'radius'     pixels up to this distance are neighbours: 1 for 4, 1.5 for 8
%     'intensity'  difference at which the weight has fallen to 1/e: 0.1
%     'distance'   distance at which it has fallen to 1/e: Inf
%     'floor'      added to every weight: 0
%
%   Errors: purlin:invalidArgument here, and where W is used.
%
%   See also purlin.graph_of_image, purlin.graph_cluster.
%
%   Example
%     image = [zeros(12, 8), ones(12, 8)] + 0.01 * rand(12, 16);
%     W = purlin.graph_operator_of_image(image, 'floor', 1e-6);
%     labels = reshape(purlin.graph_cluster(W, 2), size(image));
  purlin.internal.at_least(nargin, 1, 'graph_operator_of_image');
  W = purlin.internal.options({'radius', 'intensity', 'distance', 'floor'}, varargin);
  purlin.internal.validate(image, {'numeric', 'logical'}, {'2d', 'real'}, 'image');
  W.pixels = purlin.internal.real_class(image, 'image');
end
