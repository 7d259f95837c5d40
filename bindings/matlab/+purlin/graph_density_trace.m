function t = graph_density_trace(n, points, weights, f)
%GRAPH_DENSITY_TRACE  The trace of a function of a matrix, from the density of its spectrum.
%   t = purlin.graph_density_trace(n, points, weights, f) is about trace(f(A)) for A of order N, with the points and weights of
%   purlin.graph_density; F takes a column and gives one.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.graph_density.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     A = A - diag(diag(A));
%     [points, weights] = purlin.graph_density(A, 40, 20);
%     triangles = purlin.graph_density_trace(size(A, 1), points, weights, @(x) x.^3) / 6;
  purlin.internal.at_least(nargin, 4, 'graph_density_trace');
  purlin.internal.whole(n, 'n', 0);
  points = purlin.internal.numbers(points, 'points', class(points));
  weights = purlin.internal.numbers(weights, 'weights', class(weights));
  if numel(weights) ~= numel(points)
    error('purlin:invalidArgument', 'weights: has %d numbers, points has %d', numel(weights), numel(points));
  end
  if ~isa(f, 'function_handle')
    error('purlin:invalidArgument', 'f: is of class %s, expected a function handle', class(f));
  end
  values = f(points(:));
  if ~isnumeric(values) && ~islogical(values)
    error('purlin:invalidArgument', 'f: gives a value of class %s, expected numbers', class(values));
  end
  if numel(values) ~= numel(points)
    error('purlin:invalidArgument', 'f: gives %d values for %d points', numel(values), numel(points));
  end
  t = n * (values(:).' * weights(:));
end
