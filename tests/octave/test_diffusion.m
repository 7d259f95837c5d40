function test_diffusion(golden, volume)
% TEST_DIFFUSION  The real volume: fit, orientation functions, bases, peaks against MRtrix3, masks, errors.
  c = purlin.codes();
  dwi = fullfile(golden, 'dwi');
  for order = [4 8]
    stem = fullfile(dwi, sprintf('csa%d', order));
    entries = purlin.symmetric_count(order, 3);
    sh = single(read_raw([stem, '_sh_mrtrix.f32'], 'float32', entries));
    expected = reshape(read_raw([stem, '_peaks.f32'], 'float32', 9), 3, 3, []);
    agree = logical(read_raw([stem, '_agree.u8'], 'uint8', 1));
    % As MRtrix3 does: every maximum counts. Enough starts that none of order 8 is missed.
    every = struct('peaks', 3, 'relative_threshold', 0, 'min_separation', 0, 'starts', 128);
    with_basis = every;
    with_basis.basis = 'mrtrix3';
    with_basis.format = 'mrtrix';
    r = purlin.dwi_peaks(sh, order, with_basis);
    check(isequal(size(r.peaks), [3 3 1000]) && r.info.tensors == 1000, 'peaks of all voxels');
    tensors = double(purlin.sh_to_tensor(sh, order, 'mrtrix3'));
    compare(double(r.peaks(:, :, agree)), expected(:, :, agree), tensors(:, agree), order);
    with_basis = every;
    with_basis.basis = 'tensor';
    r = purlin.dwi_peaks(tensors, order, with_basis);
    scaled = r.peaks(1:3, :, :) .* repmat(r.peaks(4, :, :), [3 1 1]);
    compare(scaled(:, :, agree), expected(:, :, agree), tensors(:, agree), order);
  end

  sh = read_raw(fullfile(dwi, 'csa4_sh_mrtrix.f32'), 'float32', 15);
  expected = read_raw(fullfile(dwi, 'csa4_tensor.f32'), 'float32', 15);
  tensors = purlin.sh_to_tensor(sh, 4, 'mrtrix3');
  check(abs(tensors - expected) < 1e-5 * max(abs(expected(:))), 'tensors as in the reference');
  for basis = {'canonical', 'mrtrix3', 'tournier07_legacy', 'descoteaux07_legacy', 'descoteaux07'}
    other = purlin.tensor_to_sh(tensors, 4, basis{1});
    check(abs(purlin.sh_to_tensor(other, 4, basis{1}) - tensors) < 1e-13, 'every basis has an inverse');
    same = max(abs(other(:) - sh(:))) < 1e-13;
    check(same == strcmp(basis{1}, 'mrtrix3'), 'and numbers of its own');
  end
  last = reshape(sh', 10, 10, 10, 15);
  check(isequal(purlin.sh_to_tensor(last, 4, 'mrtrix3', 'layout', 'last'), reshape(tensors, 15, 10, 10, 10)), ...
        'coefficients along the last extent');

  [raw, bvals, bvecs] = read_volume(volume);
  signals = reshape(permute(double(raw), [4 3 2 1]), 65, []);
  adc = read_raw(fullfile(dwi, 'adc4_tensor.f64'), 'float64', 15);
  fit = purlin.dwi_fit(signals, bvals, bvecs, 4);
  good = ~isnan(adc(1, :));
  check(abs(fit.tensors(:, good) - adc(:, good)) < 1e-9 * max(max(abs(adc(:, good)))), 'the tensors of the reference');
  check(fit.status(good) == c.TENSOR_OK & fit.s0(good) > 0, 'good voxels');
  check(fit.status(~good) ~= c.TENSOR_OK, 'the voxels with a zero are reported');
  lost = nnz(fit.status ~= c.TENSOR_OK & fit.status ~= c.TENSOR_CLAMPED);
  check(fit.info.tensors == 1000 && fit.info.skipped_tensors == lost && ~isempty(fit.info.reason), 'the report of a fit');
  some = good & (1:1000 > 500);
  part = purlin.dwi_fit(signals, bvals, bvecs, 4, 'weights', ones(65, 1000), 'mask', some, 'nonpositive', 'skip');
  scale = max(max(abs(adc(:, good))));
  check(abs(part.tensors(:, some) - fit.tensors(:, some)) < 1e-12 * scale, 'equal weights change nothing');
  check(part.tensors(:, ~some) == 0 & part.status(~some) == c.TENSOR_MASKED, 'outside the mask');
  weighted = purlin.dwi_fit(signals, bvals, bvecs, 2, 'weighting', 'wls');
  plain = purlin.dwi_fit(signals, bvals, bvecs, 2);
  change = max(max(abs(weighted.tensors(:, good) - plain.tensors(:, good))));
  check(change > 1e-6 * scale && change < scale, 'weights of the signals do');
  whole = purlin.dwi_fit(uint16(raw), bvals, bvecs, 4, 'layout', 'last');
  check(isequal(size(whole.tensors), [15 10 10 10]), 'a volume');
  check(abs(reshape(permute(whole.tensors, [1 4 3 2]), 15, []) - fit.tensors) < 1e-12, 'in place and by integers');
  odf = purlin.dwi_csa(raw, bvals, bvecs, 4, 'mrtrix3', 'layout', 'last');
  model = reshape(permute(odf.sh, [1 4 3 2]), 15, []);
  check(abs(model - sh) < 1e-4 * max(abs(sh(:))), 'the orientation functions of dipy');
  check(odf.info.tensors == 1000 && odf.info.chunks == 1 && odf.info.seconds >= 0, 'the report of orientation functions');
  info = purlin.dwi_plan(sh, 4, 'basis', 'mrtrix3', 'starts', 40);
  run = purlin.dwi_peaks(sh, 4, 'basis', 'mrtrix3', 'starts', 40);
  check(isequal(fieldnames(info), fieldnames(run.info)) && info.starts == 40, 'the whole plan');
  check(strcmp(info.reason, run.info.reason) && info.chunks == run.info.chunks && info.iterations == 0, 'a plan of peaks');
  check_error('purlin:invalidArgument', 'basis: is not given', @() purlin.dwi_plan(sh, 4));

  mask = true(1, 1000);
  mask(1:2:end) = false;
  every = purlin.dwi_peaks(sh, 4, 'basis', 'mrtrix3', 'peaks', 2);
  some = purlin.dwi_peaks(sh, 4, 'basis', 'mrtrix3', 'peaks', 2, 'mask', mask);
  check(some.count(~mask) == 0 & some.status(~mask) == c.TENSOR_MASKED, 'outside the mask');
  check(isnan(some.peaks(:, :, ~mask)), 'NaN outside');
  check(some.peaks(:, 1, mask) == every.peaks(:, 1, mask), 'the same inside');
  some = purlin.dwi_peaks(sh, 4, 'basis', 'mrtrix3', 'peaks', 2, 'mask', mask, 'missing', 'zero');
  check(some.peaks(:, :, ~mask) == 0, 'or zeros');

  check_error('purlin:invalidArgument', '', @() purlin.dwi_peaks(ones(10, 2), 3, 'basis', 'tensor'));
  check_error('purlin:invalidArgument', 'basis: is not given', @() purlin.dwi_peaks(sh, 4));
  check_error('purlin:invalidArgument', 'dwi_peaks: has 1', @() purlin.dwi_peaks(sh));
  check_error('purlin:invalidArgument', 'basis', @() purlin.dwi_peaks(sh, 4, 'basis', 'dipy'));
  check_error('purlin:invalidArgument', 'basis', @() purlin.sh_to_tensor(sh, 4, ''));
  check_error('purlin:invalidArgument', 'mask', @() purlin.dwi_peaks(sh, 4, 'basis', 'mrtrix3', 'mask', true(3, 1)));
  check_error('purlin:invalidArgument', 'signals', @() purlin.dwi_fit(signals(1:9, :), bvals, bvecs, 4));
  check_error('purlin:invalidArgument', 'bvecs', @() purlin.dwi_fit(signals, bvals, bvecs(:, 1:9), 4));
end

function compare(peaks, expected, tensors, order)
% 0.1 degree and 1e-4 in amplitude wherever the reference has a peak.
  c = purlin.codes();
  there = ~isnan(expected(1, :, :));
  missing = find(there & isnan(peaks(1, :, :)))';
  for k = missing
    % sh2peaks also stops at saddles, which are no peaks.
    voxel = ceil(k / 3);
    value = norm(expected(:, k));
    saddle = purlin.sshopm_classify(tensors(:, voxel), order, 3, value, expected(:, k) / value);
    check(saddle.classes == c.PAIR_UNSTABLE && saddle.residuals < 1e-4, 'no maximum is missing');
    there(k) = false;
  end
  a = reshape(peaks(:, there(:)), 3, []);
  b = reshape(expected(:, there(:)), 3, []);
  check(size(b, 2) > 2500 && numel(missing) < 5, 'nearly all peaks are compared');
  lengths = sqrt(sum(a .^ 2, 1)) ./ sqrt(sum(b .^ 2, 1));
  check(abs(lengths - 1) < 1e-4, 'amplitudes as MRtrix3 has them');
  sines = sqrt(sum(cross(a, b, 1) .^ 2, 1)) ./ (sqrt(sum(a .^ 2, 1)) .* sqrt(sum(b .^ 2, 1)));
  check(sines < sin(0.1 * pi / 180), 'directions as MRtrix3 has them');
end

function [raw, bvals, bvecs] = read_volume(folder)
% The NIfTI file has a header of 348 bytes and its numbers, int16 here, from byte 352 on, x running fastest.
  file = fopen(fullfile(folder, 'small_64D.nii'), 'r', 'ieee-le');
  check(file >= 0, 'opening the volume');
  fseek(file, 352, 'bof');
  raw = reshape(fread(file, 10 * 10 * 10 * 65, 'int16=>int16'), 10, 10, 10, 65);
  fclose(file);
  bvals = load(fullfile(folder, 'small_64D.bval'), '-ascii');
  bvecs = load(fullfile(folder, 'small_64D.bvec'), '-ascii')';
end
