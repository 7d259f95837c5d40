function fibres(folder)
%FIBRES  Fibre directions of a diffusion MRI volume, as examples-c/sshopm_fibres.c finds them.
%   fibres(folder) reads small_64D.nii, .bval and .bvec there and prints a table and the first voxels' directions.
%
%   Example
%     fibres('examples-c/data')
  volume = read_volume(fullfile(folder, 'small_64D.nii'));
  bvals = load(fullfile(folder, 'small_64D.bval'), '-ascii');
  bvecs = load(fullfile(folder, 'small_64D.bvec'), '-ascii');
  if size(bvecs, 1) ~= 3
    bvecs = bvecs';
  end
  info = purlin.context_info();
  fprintf('purlin on %s\n', info.device_name);

  % The file holds volume after volume: the measurements run along the last extent.
  odf = purlin.dwi_csa(volume, bvals, bvecs, 4, 'mrtrix3', 'layout', 'last');
  % Maxima at least half as high as the voxel's highest, and 25 degrees apart: the usual choice of the field.
  result = purlin.dwi_peaks(odf.sh, 4, 'basis', 'mrtrix3', 'peaks', 3, 'relative_threshold', 0.5, ...
                            'min_separation', 25 * pi / 180);

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
  fprintf('  first voxels'' directions and values:\n');
  for v = 1:4
    [x, y, z] = ind2sub(size(result.count), v);
    for k = 1:count(v)
      fprintf('    (%d, %d, %d)  %7.4f %7.4f %7.4f   %.4f\n', x - 1, y - 1, z - 1, result.peaks(:, k, v));
    end
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
