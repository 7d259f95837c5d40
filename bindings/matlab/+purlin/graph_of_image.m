function W = graph_of_image(image, varargin)
%GRAPH_OF_IMAGE  The graph of neighbouring pixels of an image.
%   W = purlin.graph_of_image(image) joins each pixel to the 4 beside it with weight exp(-(difference / 0.1)^2); vertices are
%   numbered as image(:). Weights of an image of class single have its precision.
%   W = purlin.graph_of_image(image, name, value, ...) takes
%     'radius'     pixels up to this distance are neighbours: 1 for 4, 1.5 for 8
%     'intensity'  difference at which the weight has fallen to 1/e: 0.1
%     'distance'   distance at which it has fallen to 1/e: Inf
%     'floor'      added to every weight: 0
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.graph_cluster.
%
%   Example
%     image = [zeros(12, 8), ones(12, 8)] + 0.01 * rand(12, 16);
%     W = purlin.graph_of_image(image, 'floor', 1e-6);
%     labels = reshape(purlin.graph_cluster(W, 2), size(image));
  purlin.internal.at_least(nargin, 1, 'graph_of_image');
  opts = purlin.internal.options({'radius', 'intensity', 'distance', 'floor'}, varargin);
  given = struct('radius', 1, 'intensity', 0.1, 'distance', Inf, 'floor', 0);
  names = fieldnames(opts);
  for n = 1:numel(names)
    given.(names{n}) = opts.(names{n});
  end
  [rows, cols, values, m, n] = purlin_mex('graph_of_image', purlin.internal.real_class(image, 'image'), given.radius, given.intensity, ...
                                          given.distance, given.floor);
  W = sparse(rows, cols, double(values), m, n);
end
