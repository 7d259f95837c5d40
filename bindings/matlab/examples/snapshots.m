function degrees = snapshots(points, count, picture)
%SNAPSHOTS  Modes of a flow whose snapshots are in a file, and the same modes from data with outliers.
%   snapshots() writes three travelling waves with noise to a file, a snapshot a column, and finds their modes, in blocks;
%   then one number in fifty is spoilt, and robust PCA takes the outliers out again.
%   It writes snapshots.png, time to the right: the spoilt data, the part of low rank, the outliers.
%   snapshots(points, count) sizes the file; snapshots(points, count, picture) names the picture.
%   degrees = snapshots(..) is the angle between the true modes and those of robust PCA.
  if nargin < 2
    points = 4000;
    count = 300;
  end
  if nargin < 3
    picture = 'snapshots.png';
  end
  clean = waves(points, count);
  truth = purlin.rsvd_range(clean, 6);
  rand('twister', 1);
  randn('twister', 1);
  field = single(clean + 0.01 * randn(size(clean)));

  path = [tempname(), '.raw'];
  remove = onCleanup(@() delete(path));
  file = fopen(path, 'w', 'ieee-le');
  fwrite(file, field, 'single');
  fclose(file);
  [modes, S, ~, info] = purlin.rsvd(struct('file', path, 'size', [points count], 'dtype', 'single'), 6);
  where = purlin.context_info();
  fprintf('purlin on %s\n', where.device_name);
  fprintf('  %d points x %d snapshots, method %s, %d passes, l = %d\n', points, count, info.method, info.passes, ...
          info.columns);
  fprintf('  singular values      %s\n', sprintf('%9.3f', diag(S)));
  fprintf('  energy in six modes  %.3f %%\n', 100 * (1 - info.error_relative ^ 2));
  fprintf('  angle to the truth   %.3f degrees\n', angle_of(modes, truth));

  spoilt = field;
  hit = rand(size(field)) < 0.02;
  spoilt(hit) = 20 * randn(nnz(hit), 1);
  plain = purlin.rsvd_range(spoilt, 6, 'power_iterations', 6);
  [low_rank, outliers] = purlin.rpca(spoilt, 'tolerance', 1e-4);
  robust = purlin.rsvd_range(low_rank, 6, 'power_iterations', 6);
  fprintf('with one number in fifty spoilt:\n');
  fprintf('  angle, plain         %.3f degrees\n', angle_of(plain, truth));
  degrees = angle_of(robust, truth);
  fprintf('  angle, robust        %.3f degrees\n', degrees);
  fprintf('  outliers found       %.2f %%\n', 100 * mean(abs(outliers(:)) > 1));

  rows = round(linspace(1, points, 300));
  columns = round(linspace(1, count, 300));
  parts = double([spoilt(rows, columns), low_rank(rows, columns), outliers(rows, columns)]);
  imwrite(uint8(127.5 + 60 * parts), picture);
  fprintf('  %s\n', picture);
end

function field = waves(points, count)
% Three waves, each a matrix of rank 2, on a line of points.
  x = (0:points - 1)' * 2 * pi / points;
  t = (0:count - 1) / count;
  field = zeros(points, count);
  for k = 0:2
    field = field + 2 ^ -k * cos((k + 1) * (x - 6 * pi * t));
  end
end

function degrees = angle_of(found, wanted)
% Largest angle between two subspaces.
  degrees = acos(min(min(svd(double(found)' * double(wanted))), 1)) * 180 / pi;
end
