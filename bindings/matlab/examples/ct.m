function [off, difference] = ct(picture, voxels)
%CT  A cone-beam scan of the Shepp-Logan head, from detector counts to a slice.
%   ct() simulates the counts of a full turn and of a panel that is shifted sideways and sees half of the head in each view,
%   reconstructs both, prints the densities of regions and writes ct.png: an axial slice of either, and the truth.
%   ct(picture, voxels) names the picture and sets the voxels along each axis.
%   off = ct(..) is the largest error of a region's density, [off, difference] = .. also the mean difference of the two volumes.
  if nargin < 1
    picture = 'ct.png';
  end
  if nargin < 2
    voxels = 96;
  end
  radius = 60;
  pitch = 2 * 1.06 * radius / voxels;
  panel = ceil(1.2 * voxels);
  scanner = struct('detector_columns', panel, 'detector_rows', panel, 'column_pitch', 2 * pitch, 'row_pitch', 2 * pitch, ...
                   'source_to_axis', 500, 'source_to_detector', 1000, 'angles', (0:2 * voxels - 1) * pi / voxels);
  first = -(voxels - 1) / 2 * pitch;
  grid = struct('size', voxels * [1 1 1], 'spacing', pitch * [1 1 1], 'origin', first * [1 1 1]);
  half = scanner;
  half.detector_columns = ceil(panel * 5 / 8);
  half.column_offset = 0.23 / 1.2 * panel * scanner.column_pitch;
  head = purlin.fdk_shepp_logan(radius);
  where = purlin.context_info();
  fprintf('purlin on %s\n', where.device_name);

  [full_scan, truth] = scan_of(scanner, grid, head);
  half_scan = scan_of(half, grid, head);
  % In multiples of water, which attenuates about 0.02 per mm.
  [whole, info] = purlin.fdk_reconstruct(full_scan, scanner, 'counts', 50000, 'grid', grid, 'output_scale', 1 / 0.02);
  fprintf('  full circle: %d views, %s\n', size(full_scan, 3), info.reason);
  [narrow, info] = purlin.fdk_reconstruct(half_scan, half, 'counts', 50000, 'grid', grid, 'output_scale', 1 / 0.02);
  fprintf('  narrow panel: %d columns, %s\n', half.detector_columns, info.reason);

  % Regions of one density: a ventricle, a mass and the tissue behind it, each a ball; lengths in radii of the head.
  regions = {'ventricle', [0.22 0 0], 0.05; 'mass', [0 0.35 0], 0.10; 'tissue', [0 0.65 0], 0.05};
  off = 0;
  for k = 1:size(regions, 1)
    inside = ball(grid, radius * regions{k, 2}, radius * regions{k, 3});
    means = [mean(whole(inside)), mean(narrow(inside)), mean(truth(inside))];
    fprintf('  %-10s %7.4f full, %7.4f narrow, %7.4f true\n', regions{k, 1}, means);
    off = max([off, abs(means(1:2) - means(3))]);
  end
  difference = mean(abs(whole(:) - narrow(:)));
  middle = round(voxels / 2);
  slices = [whole(:, :, middle); narrow(:, :, middle); truth(:, :, middle)];
  % A window from air to a little above the tissue; the skull is white.
  grey = uint8(255 * min(max((double(slices') + 0.1) / 0.6, 0), 1));
  imwrite(repelem(flipud(grey), 2, 2), picture);
  fprintf('  %s\n', picture);
end

function [counts, truth] = scan_of(scanner, grid, head)
% Counts of a detector that has 50000 without an object, views one after the other, and the volume of the ellipsoids.
  f = purlin.Fdk(scanner, 'grid', grid);
  counts = uint16(50000 * exp(-0.02 * ellipsoids(f, head)));
  truth = ellipsoid_volume(f, head);
  delete(f);
end

function inside = ball(grid, centre, radius)
  at = grid.origin(1) + (0:grid.size(1) - 1) * grid.spacing(1);
  [x, y, z] = ndgrid(at, at, at);
  inside = (x - centre(1)) .^ 2 + (y - centre(2)) .^ 2 + (z - centre(3)) .^ 2 <= radius ^ 2;
end
