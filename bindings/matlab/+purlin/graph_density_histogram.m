function shares = graph_density_histogram(points, weights, from, to, bins)
%GRAPH_DENSITY_HISTOGRAM  Shares of a spectrum in parts of an interval, from its density.
%   shares = purlin.graph_density_histogram(points, weights, from, to, bins) has a column of BINS shares of equal parts of
%   [FROM, TO], with the points and weights of purlin.graph_density. Values outside count in the first and the last.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.graph_density.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     [points, weights] = purlin.graph_density(A, 50, 10, 'kind', 'normalized_laplacian');
%     shares = purlin.graph_density_histogram(points, weights, 0, 2, 40);   % bar(shares) shows it
  purlin.internal.at_least(nargin, 5, 'graph_density_histogram');
  purlin.internal.whole(bins, 'bins', 1);
  shares = purlin_mex('graph_density_histogram', points, weights, from, to, bins);
end
