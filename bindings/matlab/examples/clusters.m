function share = clusters(points, picture)
%CLUSTERS  Points on rings that lie one in another, separated by eigenvectors of the graph of near ones.
%   clusters() scatters 1500 points about three rings, joins each to its twelve nearest, and finds the rings: groups that no
%   straight line separates. It prints eigenvalues of the normalized Laplacian, which show the number of groups, the share
%   of points that are in the right one, and the cut that separates the outer ring from the rest. It writes clusters.png: the
%   edges, each point in the colour of its group.
%   clusters(points) takes that many; clusters(points, picture) names the picture.
%   share = clusters(..) is the part of the points that are in the right ring.
  if nargin < 1
    points = 1500;
  end
  if nargin < 2
    picture = 'clusters.png';
  end
  rand('twister', 1);
  randn('twister', 1);
  truth = 1 + mod((1:points)', 3);
  angle = 2 * pi * rand(points, 1);
  radius = truth + 0.12 * randn(points, 1);
  places = [radius .* cos(angle), radius .* sin(angle)];
  W = neighbours(places, 12);
  where = purlin.context_info();
  fprintf('purlin on %s\n', where.device_name);
  fprintf('  %d points, %d edges\n', points, nnz(W) / 2);

  [~, values, info] = purlin.graph_embed(W, 5, 'basis', 80);
  fprintf('  smallest eigenvalues %s, %d products\n', sprintf(' %.2e', max(values, 0)), info.products);
  % The gap says three.
  labels = purlin.graph_cluster(W, 3, 'basis', 80, 'seed', 1);
  right = zeros(3, 3);
  for k = 1:points
    right(labels(k), truth(k)) = right(labels(k), truth(k)) + 1;
  end
  share = sum(max(right)) / points;
  fprintf('  in the right ring     %.2f %% by k-means\n', 100 * share);
  by_qr = purlin.graph_cluster(W, 3, 'basis', 80, 'assignment', 'pivoted_qr');
  fprintf('  pivoted QR differs at %d points\n', points - sum(max(accumarray([labels, by_qr], 1))));
  [side, cut, normalized] = purlin.graph_bisect(W, purlin.graph_fiedler(W, 'normalized', true, 'basis', 80));
  fprintf('  cut in two at weight  %.4f, %.1e of the volume: %d points and %d\n', cut, normalized, sum(side == 1), ...
          sum(side == 2));

  pixels = 480 + 130 * [places(:, 1), -places(:, 2)]';
  colours = [27 209 46; 108 73 147; 168 91 60];
  [i, j] = find(triu(W));
  image = draw_lines(255 * ones(960, 960, 3), pixels(:, i), pixels(:, j), 215 * ones(3, numel(i)), 1);
  imwrite(half_size(draw_lines(image, pixels, pixels, colours(:, labels), 7)), picture);
  fprintf('  %s\n', picture);
end

function W = neighbours(P, count)
% Each point with the COUNT nearest to it, by weights that fall with the distance.
  n = size(P, 1);
  squares = sum(P .^ 2, 2);
  D = max(bsxfun(@plus, squares, squares') - 2 * (P * P'), 0);
  D(1:n + 1:end) = Inf;
  [near, at] = sort(D, 2);
  rows = repmat((1:n)', 1, count);
  at = at(:, 1:count);
  scale = median(near(:, count));
  A = sparse(rows(:), at(:), exp(-reshape(near(:, 1:count), [], 1) / scale), n, n);
  W = purlin.symmetrize(A, 'union');
end
