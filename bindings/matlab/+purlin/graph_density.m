function [points, weights] = graph_density(A, steps, vector_count, varargin)
%GRAPH_DENSITY  The density of a spectrum, by Lanczos recurrences from random vectors.
%   [points, weights] = purlin.graph_density(A, steps, vector_count) has weights that sum to 1:
%   sum(weights .* f(points)) is about trace(f(A)) / n. STEPS points for each of VECTOR_COUNT random vectors.
%   purlin.graph_density(A, steps, vector_count, name, value, ...) takes 'kind', 'shift', 'seed' and 'progress' of
%   purlin.lanczos.
%
%   Errors: as purlin.lanczos.
%
%   See also purlin.graph_density_histogram, purlin.graph_density_trace, purlin.lanczos.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     [points, weights] = purlin.graph_density(A, 50, 10, 'kind', 'normalized_laplacian');
  purlin.internal.at_least(nargin, 3, 'graph_density');
  opts = purlin.internal.options({'kind', 'shift', 'seed', 'progress'}, varargin);
  matrix = purlin.internal.operand(A, opts);
  [points, weights, count] = purlin_mex('graph_density', matrix, steps, vector_count, opts);
  points = points(1:count);
  weights = weights(1:count);
end
