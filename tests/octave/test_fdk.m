function test_fdk(golden)
% TEST_FDK  Cone-beam CT: RTK's volume of a full circle, pushed views, files, pieces, errors, cancelling.
  purlin.configure('backend', 'cpu');
  lines = reshape(last_numbers(fullfile(golden, 'fdk', 'full_proj.npy'), 80 * 64 * 90), 80, 64, 90);
  expected = reshape(last_numbers(fullfile(golden, 'fdk', 'full_rtk.npy'), 48 * 44 * 36), 48, 44, 36);
  geometry = struct('detector_columns', 80, 'detector_rows', 64, 'column_pitch', 3, 'row_pitch', 3.5, 'source_to_axis', 500, ...
                    'source_to_detector', 1000, 'angles', (0:89) * 4 * pi / 180);
  grid = struct('size', [48 44 36], 'spacing', [2.2 2.4 2], 'origin', [-51.7 -51.6 -35]);

  [whole, info] = purlin.fdk_reconstruct(lines, geometry, 'grid', grid, 'edge', 'skip');
  check(isa(whole, 'single') && isequal(size(whole), [48 44 36]), 'a single volume');
  check(max(abs(whole(:) - expected(:))) < 2e-5, 'the volume is the one of RTK');
  check(strcmp(info.redundancy, 'full') && isequal(info.grid.size, [48 44 36]) && ~isempty(info.reason), 'the info');
  check(strcmp(info.kernel, 'vertical'), 'the kernel is a word');

  f = purlin.Fdk(geometry, 'grid', grid, 'edge', 'skip');
  order = mod(7 * (0:89), 90) + 1;
  begin(f);
  for view = order(1:60)
    push(f, view, lines(:, :, view));
  end
  check_error('purlin:invalidArgument', 'view', @() push(f, order(1), lines(:, :, 1)));
  check_error('purlin:invalidArgument', '', @() finish(f));
  push(f, order(61:90), lines(:, :, order(61:90)));
  volume = finish(f);
  check(max(abs(volume(:) - whole(:))) < 2e-6, 'pushed views make the same volume');
  [redundancy, angular] = weights(f);
  check(abs(sum(angular) - 2 * pi) < 1e-12 && all(redundancy(:) == 0.5), 'the weights');

  views = 1:90;
  volume = backproject(f, views, filter(f, views, weight(f, views, lines)), zeros(48, 44, 36, 'single'));
  check(max(abs(volume(:) - whole(:))) < 2e-5, 'the pieces make the whole');
  head = purlin.fdk_shepp_logan(45);
  check(isequal(size(head), [8 10]), 'ten ellipsoids');
  found = reconstruct(f, ellipsoids(f, head)) - ellipsoid_volume(f, head);
  check(sqrt(mean(found(:) .^ 2)) < 0.15, 'the head comes back');

  counts = uint16(round(60000 * exp(-0.02 * double(lines)) + 100));
  set_counts(f, 60100, 100 * ones(80, 64));
  counted = reconstruct(f, counts);
  check(max(abs(counted(:) / 0.02 - whole(:))) < 1e-2, 'raw counts');
  bright = counts;
  bright(40, 32, 7) = 60101;
  reconstruct(f, bright);
  check(last_info(f).pixels_negative == 1, 'a count above i0 is counted');
  set_counts(f, []);
  check_error('purlin:invalidArgument', 'i0: is 0', @() set_counts(f, 0));
  spoilt = lines;
  spoilt(40, 32, 7) = NaN;
  bad = reconstruct(f, spoilt);
  check(last_info(f).pixels_not_finite == 1 && any(isnan(bad(:))), 'a pixel that is not finite is counted');
  set_counts(f, 60100, 100 * ones(80, 64));
  [logs, clamped] = purlin.fdk_log_transform(uint16([1000 368 0]), 1000);
  check(abs(logs(2) - 1) < 1e-3 && clamped == 1, 'the logarithm');
  delete(f);

  % On the CPU each 0 in `devices` is a further context.
  shared = purlin.Fdk(geometry, 'grid', grid, 'edge', 'skip', 'slab', 16, 'devices', 0);
  check(plan(shared).contexts == 2, 'a device more');
  check(isequal(reconstruct(shared, lines), whole), 'several devices give the same bits');
  check_error('purlin:invalidArgument', 'device', @() purlin.Fdk(geometry, 'devices', -1));
  check_error('purlin:invalidArgument', 'devices: has 7, the CPU', @() purlin.Fdk(geometry, 'devices', 7));
  delete(shared);

  folder = tempname();
  mkdir(folder);
  remove = onCleanup(@() rmdir(folder, 's'));
  raw = fullfile(folder, 'scan.raw');
  file = fopen(raw, 'w', 'ieee-be');
  fwrite(file, zeros(1, 4), 'uint8');
  fwrite(file, lines, 'single');
  fclose(file);
  scan = struct('file', raw, 'size', [80 64 90], 'dtype', 'single', 'offset', 4, 'endianness', 'big');
  for field = {'endianess', 'offest', 'sizes'}
    check_error('purlin:invalidArgument', field{1}, @() purlin.fdk_reconstruct(setfield(scan, field{1}, 1), geometry));
  end
  named = struct('file', fullfile(folder, 'volume.raw'), 'offest', 100);
  check_error('purlin:invalidArgument', 'offest', @() purlin.fdk_reconstruct(lines, geometry, 'grid', grid, 'output', named));
  both = struct('file', fullfile(folder, 'volume.raw'), 'write', @(first, count, block) 0);
  check_error('purlin:invalidArgument', 'file', @() purlin.fdk_reconstruct(lines, geometry, 'grid', grid, 'output', both));
  image = fullfile(folder, 'volume.mha');
  nothing = purlin.fdk_reconstruct(scan, geometry, 'grid', grid, 'edge', 'skip', 'output', image);
  check(isempty(nothing), 'a volume in a file is not returned');
  written = last_numbers(image, numel(whole));
  check(isequal(written(:), whole(:)), 'the file holds the volume');
  head = fileread(image);
  places = {sscanf(head(strfind(head, 'ElementSpacing = '):end), 'ElementSpacing = %f %f %f', 3)', ...
            sscanf(head(strfind(head, 'Offset = '):end), 'Offset = %f %f %f', 3)'};
  check(isequal(places, {grid.spacing, grid.origin}), 'spacing and origin are the grid''s');
  purlin.fdk_reconstruct(lines, geometry, 'grid', grid, 'output', fullfile(folder, 'volume.tif'));
  check(exist(fullfile(folder, 'volume.tif'), 'file') == 2, 'a stack of pages');
  functions(lines, whole, geometry, grid);
  pushes(lines, whole, geometry, grid);
  check_error('purlin:io', 'none.mha', @() purlin.fdk_reconstruct(fullfile(folder, 'none.mha'), geometry));
  check_error('purlin:invalidArgument', 'does not end in', @() purlin.fdk_reconstruct('scan.dat', geometry));

  bad = geometry;
  bad.detector_columns = 1;
  check_error('purlin:invalidArgument', 'detector_columns', @() purlin.Fdk(bad));
  check_error('purlin:invalidArgument', 'there is no colour', @() purlin.Fdk(geometry, 'colour', 1));
  check_error('purlin:cancelled', '', @() purlin.fdk_reconstruct(lines, geometry, 'grid', grid, 'view_batch', 4, ...
              'progress', @(step, steps, measure) true));
  check_error('mine:stop', 'enough', @() purlin.fdk_reconstruct(lines, geometry, 'grid', grid, 'view_batch', 4, ...
              'progress', @(step, steps, measure) error('mine:stop', 'enough')));
end

function numbers = last_numbers(path, count)
% Single precision numbers at the end of a file, behind whatever header it has.
  file = fopen(path, 'r', 'ieee-le');
  check(file >= 0, ['opening ', path]);
  fseek(file, -4 * count, 'eof');
  numbers = fread(file, count, 'single=>single');
  fclose(file);
end

function functions(lines, whole, geometry, grid)
% Readers and writers that are functions of the user's.
  names = {'grid', grid, 'edge', 'skip', 'view_batch', 16, 'slab', 10};
  part = @(first, count) lines(first(1) + (0:count(1) - 1), first(2) + (0:count(2) - 1), first(3) + (0:count(3) - 1));
  input = struct('read', part, 'size', [80 64 90], 'dtype', 'single');
  volume = purlin.fdk_reconstruct(input, geometry, names{:});
  check(isequal(volume, whole), 'a function as the source');
  taken = containers.Map('KeyType', 'double', 'ValueType', 'any');
  steps = containers.Map('KeyType', 'double', 'ValueType', 'any');
  output = struct('write', @(first, count, block) keep(taken, first, count, block));
  nothing = purlin.fdk_reconstruct(input, geometry, names{:}, 'output', output, 'progress', ...
                                   @(step, all, measure) keep(steps, step, all, measure) && false);
  check(isempty(nothing) && steps.Count > 0, 'progress as well as functions');
  check(isequal(gathered(taken, size(whole)), whole), 'a function as the sink');
  f = purlin.Fdk(geometry, names{:});
  begin(f);
  push(f, 1:90, lines);
  remove(taken, keys(taken));
  finish(f, struct('write', @(first, count, block) keep(taken, first, count, block), 'dtype', 'double'));
  found = gathered(taken, size(whole));
  check(isa(found, 'double') && max(abs(found(:) - double(whole(:)))) < 2e-6, 'a pushed scan to a function');
  delete(f);
  raise = @(varargin) error('mine:stop', 'enough');
  check_error('mine:stop', 'enough', @() purlin.fdk_reconstruct(setfield(input, 'read', raise), geometry, names{:}));
  check_error('mine:stop', 'enough', @() purlin.fdk_reconstruct(lines, geometry, names{:}, 'output', ...
              struct('write', raise)));
  check_error('purlin:invalidArgument', 'elements', @() purlin.fdk_reconstruct(setfield(input, 'read', ...
              @(first, count) 1), geometry, names{:}));
  check_error('purlin:invalidArgument', 'size', @() purlin.fdk_reconstruct(rmfield(input, 'size'), geometry));
  check_error('purlin:invalidArgument', 'function handle', @() purlin.fdk_reconstruct(setfield(input, 'read', 3), ...
              geometry));
  check_error('purlin:cancelled', '', @() purlin.fdk_reconstruct(input, geometry, names{:}, 'progress', ...
              @(step, all, measure) true));
  check_error('purlin:busy', 'calling', @() purlin.fdk_reconstruct(setfield(input, 'read', ...
              @(first, count) purlin.version()), geometry, names{:}));
  check(isequal(purlin.fdk_reconstruct(input, geometry, names{:}), whole), 'and all is well after the errors');
end

function pushes(lines, whole, geometry, grid)
% The progress function of an object is called by pushes, with the views taken and all views. It cancels a push, and the scan.
  steps = containers.Map('KeyType', 'double', 'ValueType', 'any');
  stop = containers.Map('at', 91);
  f = purlin.Fdk(geometry, 'grid', grid, 'edge', 'skip', 'progress', ...
                 @(step, all, measure) keep(steps, step, all, measure) && step >= stop('at'));
  begin(f);
  push(f, 1:40, lines(:, :, 1:40));
  seen = cell2mat(cellfun(@(s) [s{1}; s{2}], values(steps), 'UniformOutput', false));
  check(~isempty(seen) && issorted(seen(1, :)) && seen(1, end) == 40 && all(seen(2, :) == 90), 'views of the whole scan');
  stop('at') = 41;
  check_error('purlin:cancelled', '', @() push(f, 41:90, lines(:, :, 41:90)));
  check_error('purlin:cancelled', '', @() finish(f));
  stop('at') = 91;
  begin(f);
  check(plan(f).views_pushed == 0, 'the cancelled scan has ended');
  push(f, 1:90, lines);
  volume = finish(f);
  check(max(abs(volume(:) - whole(:))) < 2e-6, 'the next scan is whole');
  delete(f);
end

function yes = keep(taken, first, count, block)
  taken(taken.Count + 1) = {first, count, block};
  yes = true;
end

function volume = gathered(taken, sizes)
  blocks = values(taken);
  volume = nan(sizes, class(blocks{1}{3}));
  for k = 1:numel(blocks)
    [first, count, block] = blocks{k}{:};
    at = arrayfun(@(f, c) f + (0:c - 1), first, count, 'UniformOutput', false);
    check(all(isnan(volume(at{:})(:))), 'each element once');
    volume(at{:}) = block;
  end
end
