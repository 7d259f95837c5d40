function off = fibres(folder, picture)
%FIBRES  Fibre directions of a diffusion MRI volume, and a picture of them.
%   fibres() simulates a volume in which a bundle of fibres bends across a straight one, finds the directions, prints a table
%   and writes fibres.png: a stick for each direction, red along x, green along y, blue along z.
%   fibres(folder) reads small_64D.nii, .bval and .bvec there, as examples-c/sshopm_fibres.c does, and prints the first voxels'
%   directions too.
%   fibres(folder, picture) names the picture; an empty FOLDER stands for the simulation.
%   off = fibres(..) is the mean angle, in degrees, between the true directions and the nearest ones that were found; NaN for
%   a volume that was read.
%
%   Example
%     fibres()
%     fibres('examples-c/data')
  simulated = nargin < 1 || isempty(folder);
  if nargin < 2
    picture = 'fibres.png';
  end
  if simulated
    [volume, bvals, bvecs, mask, truth] = simulate(24);
  else
    [volume, bvals, bvecs] = read(folder);
    mask = true(size(volume(:, :, :, 1)));
  end
  info = purlin.context_info();
  fprintf('purlin on %s\n', info.device_name);

  % Volume after volume: the measurements run along the last extent.
  odf = purlin.dwi_csa(volume, bvals, bvecs, 4, 'mrtrix3', 'layout', 'last', 'mask', mask);
  % Maxima at least half as high as the voxel's highest, and 25 degrees apart: the usual choice of the field.
  result = purlin.dwi_peaks(odf.sh, 4, 'basis', 'mrtrix3', 'peaks', 3, 'relative_threshold', 0.5, ...
                            'min_separation', 25 * pi / 180, 'mask', mask);

  count = result.count(:);
  crossing = find(count > 1);
  first = double(result.peaks(1:3, 1, crossing));
  second = double(result.peaks(1:3, 2, crossing));
  angles = acos(min(abs(sum(first .* second, 1)), 1)) * 180 / pi;
  fprintf('  %-44s %d\n', 'voxels', numel(count));
  fprintf('  %-44s %d\n', 'with one fibre direction', sum(count == 1));
  fprintf('  %-44s %d\n', 'with a crossing of two', sum(count == 2));
  fprintf('  %-44s %d\n', 'with a crossing of three', sum(count == 3));
  fprintf('  %-44s %.1f degrees\n', 'mean angle of the first two in a crossing', mean(angles(:)));
  off = NaN;
  if simulated
    off = mean_error(truth, double(result.peaks(1:3, :, :)));
    fprintf('  %-44s %.1f degrees\n', 'mean angle to the true directions', off);
  else
    fprintf('  first voxels'' directions and values:\n');
    for v = 1:4
      [x, y, z] = ind2sub(size(result.count), v);
      for k = 1:count(v)
        fprintf('    (%d, %d, %d)  %7.4f %7.4f %7.4f   %.4f\n', x - 1, y - 1, z - 1, result.peaks(:, k, v));
      end
    end
  end
  imwrite(sticks(double(volume(:, :, :, 1)), result), picture);
  fprintf('  %s\n', picture);
end

function image = sticks(unweighted, result)
% The middle slice: the signal without weighting in grey, and a stick for each peak as long as the peak is high.
  [columns, rows, slices] = size(unweighted);
  slice = ceil(slices / 2);
  cell = 2 * ceil(480 / max(rows, columns));
  grey = 16 + 90 * sqrt(max(unweighted(:, :, slice), 0) / max(unweighted(:)));
  image = repmat(repelem(flipud(grey'), cell, cell), [1 1 3]);
  from = zeros(2, 0);
  to = from;
  colours = zeros(3, 0);
  for y = 1:rows
    for x = 1:columns
      v = sub2ind(size(unweighted), x, y, slice);
      for k = result.count(v):-1:1
        peak = double(result.peaks(:, k, v));
        reach = 0.46 * cell * peak(4) / double(result.peaks(4, 1, v)) * [peak(1); -peak(2)];
        middle = cell * [x - 0.5; rows - y + 0.5];
        from(:, end + 1) = middle - reach; %#ok<AGROW>
        to(:, end + 1) = middle + reach; %#ok<AGROW>
        colours(:, end + 1) = 20 + 235 * abs(peak(1:3)) / max(abs(peak(1:3))); %#ok<AGROW>
      end
    end
  end
  image = half_size(draw_lines(image, from, to, colours, ceil(cell / 8)));
end

function off = mean_error(truth, found)
% TRUTH is 3-by-2-by-voxels, NaN where there are fewer directions; so is FOUND, 3-by-3-by-voxels.
  errors = [];
  for v = 1:size(truth, 3)
    true_ones = truth(:, ~isnan(truth(1, :, v)), v);
    cosines = abs(true_ones' * found(:, :, v));
    errors = [errors; acos(min(max(cosines, [], 2), 1)) * 180 / pi]; %#ok<AGROW>
  end
  off = mean(errors);
end

function [volume, bvals, bvecs, mask, truth] = simulate(side)
% One slice of SIDE by SIDE voxels. A bundle runs along x, another along a quarter of a circle, and where they cross each has
% half of the signal. Around them diffusion is the same in all directions, and the mask leaves these voxels out.
  directions = 64;
  k = (0.5:directions)';
  height = 1 - k / directions;
  turn = k * pi * (3 - sqrt(5));
  bvecs = [zeros(3, 1), [sqrt(1 - height .^ 2) .* cos(turn), sqrt(1 - height .^ 2) .* sin(turn), height]'];
  bvals = [0, 3000 * ones(1, directions)];
  [x, y] = ndgrid((0.5:side) / side);
  straight = abs(y(:) - 0.3) < 0.14;
  radius = sqrt(x(:) .^ 2 + y(:) .^ 2);
  bent = abs(radius - 0.7) < 0.13;
  tangent = [-y(:) ./ radius, x(:) ./ radius, zeros(side ^ 2, 1)]';
  along_x = repmat([1; 0; 0], 1, side ^ 2);
  signal = zeros(side ^ 2, directions + 1);
  truth = nan(3, 2, side ^ 2);
  for v = 1:side ^ 2
    bundles = zeros(3, 0);
    if straight(v)
      bundles = along_x(:, v);
    end
    if bent(v)
      bundles(:, end + 1) = tangent(:, v); %#ok<AGROW>
    end
    truth(:, 1:size(bundles, 2), v) = bundles;
    if isempty(bundles)
      signal(v, :) = 1.6 * exp(-bvals * 0.8e-3);
    else
      % 0.2e-3 mm^2/s across a fibre, 1.7e-3 along it.
      signal(v, :) = mean(exp(-bsxfun(@times, bvals, 0.2e-3 + 1.5e-3 * (bundles' * bvecs) .^ 2)), 1);
    end
  end
  randn('state', 1);
  volume = reshape(single(1000 * abs(signal + 0.01 * randn(size(signal)))), [side, side, 1, directions + 1]);
  weighted = double(volume(:, :, :, 2:end));
  mask = std(weighted, 0, 4) > 0.25 * mean(weighted, 4);
end

function [volume, bvals, bvecs] = read(folder)
  volume = read_volume(fullfile(folder, 'small_64D.nii'));
  bvals = load(fullfile(folder, 'small_64D.bval'), '-ascii');
  bvecs = load(fullfile(folder, 'small_64D.bvec'), '-ascii');
  if size(bvecs, 1) ~= 3
    bvecs = bvecs';
  end
end

function volume = read_volume(path)
% A NIfTI-1 file of a little-endian machine, scaled as its header says.
  file = fopen(path, 'r', 'ieee-le');
  if file < 0 || fread(file, 1, 'int32') ~= 348
    error('fibres:file', '%s is not a NIfTI-1 file of this byte order', path);
  end
  fseek(file, 40, 'bof');
  dims = fread(file, 8, 'int16')';
  fseek(file, 70, 'bof');
  datatype = fread(file, 1, 'int16');
  fseek(file, 108, 'bof');
  scaling = fread(file, 3, 'single');
  types = {2, 'uint8'; 4, 'int16'; 8, 'int32'; 16, 'single'; 64, 'double'; 512, 'uint16'};
  known = find([types{:, 1}] == datatype);
  if isempty(known) || dims(1) ~= 4
    error('fibres:file', '%s is not a volume of four extents, or of an unknown type of numbers', path);
  end
  fseek(file, scaling(1), 'bof');
  volume = reshape(single(fread(file, prod(dims(2:5)), types{known, 2})), dims(2:5));
  fclose(file);
  if scaling(2) ~= 0
    volume = volume * scaling(2) + scaling(3);
  end
end
