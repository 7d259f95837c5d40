function test_rpca()
% TEST_RPCA  Robust PCA: a known sum of a matrix of rank 2 and a sparse one, from memory and from files.
  purlin.configure('backend', 'cpu');
  left = cosines(60, 3);
  right = cosines(50, 2);
  low = 30 * left(:, 1) * right(:, 2)' + 20 * left(:, 3) * right(:, 1)';
  [row, column] = ndgrid(1:60, 1:50);
  spikes = 5 * (-1) .^ (row + column) .* (mod(7 * row + 11 * column, 29) == 0);
  [L, S, info] = purlin.rpca(low + spikes);
  check(info.converged && info.rank == 2, 'the rank comes back');
  check(max(abs(L(:) - low(:))) < 1e-4 && max(abs(S(:) - spikes(:))) < 1e-4, 'both parts come back');
  [L, S] = purlin.rpca(low + spikes, 'sparse', true, 'threshold', 1e-3);
  check(issparse(S) && nnz(S) == nnz(spikes) && max(abs(L(:) - low(:))) < 1e-4, 'sparse');
  seen = mod(row, 7) ~= 0 | mod(column, 5) ~= 0;
  hidden = low + spikes;
  hidden(~seen) = 1000;
  L = purlin.rpca(hidden, 'mask', seen);
  check(max(abs(L(:) - low(:))) < 1e-3, 'entries that were not seen');
  [text, identifier] = lastwarn('');
  state = warning('off', 'purlin:noConvergence');
  [~, ~, info] = purlin.rpca(low + spikes, 'max_iterations', 2);
  warning(state);
  check(~info.converged && info.iterations == 2, 'too few iterations');
  lastwarn(text, identifier);

  folder = tempname();
  mkdir(folder);
  remove = onCleanup(@() rmdir(folder, 's'));
  A = low + spikes;
  described = struct('file', fullfile(folder, 'a.raw'), 'size', size(A), 'dtype', 'double');
  file = fopen(described.file, 'w', 'ieee-le');
  fwrite(file, A, 'double');
  fclose(file);
  taken = struct('file', fullfile(folder, 'l.raw'), 'dtype', 'double');
  [L, S, info] = purlin.rpca(described, 'low_rank', taken);
  check(isempty(L) && isempty(S) && info.converged, 'from a file into a file');
  file = fopen(taken.file, 'r', 'ieee-le');
  written = fread(file, numel(A), 'double');
  fclose(file);
  check(max(abs(written - low(:))) < 1e-4, 'the file holds the part of low rank');
  taken.file = fullfile(folder, 's.raw');
  [L, S] = purlin.rpca(described, 'sparse', taken);
  file = fopen(taken.file, 'r', 'ieee-le');
  written = fread(file, numel(A), 'double');
  fclose(file);
  check(isempty(L) && isempty(S) && max(abs(written - spikes(:))) < 1e-4, 'the file holds the sparse part');
  check_error('purlin:invalidArgument', 'sparse: is true beside low_rank', ...
              @() purlin.rpca(described, 'low_rank', taken, 'sparse', true));

  bytes = uint8(round(100 + 20 * low));
  [L, S] = purlin.rpca(bytes, 'scale', 1 / 255);
  check(isa(L, 'single') && max(max(abs(L + S - single(bytes) / 255))) < 1e-5, 'bytes and their scale');
  check_error('purlin:invalidArgument', 'rho', @() purlin.rpca(A, 'rho', 0.5));
  % On a CPU there is no second GPU.
  check_error('purlin:invalidArgument', 'devices: has 1, the context in use is on the CPU: rows', @() purlin.rpca(A, 'devices', 0));
  check_error('purlin:invalidArgument', 'devices: has -1', @() purlin.rpca(A, 'devices', [0 -1]));
  check_error('purlin:invalidArgument', 'there is no colour', @() purlin.rpca(A, 'colour', 1));
  info = purlin.rpca_plan(A, 'block_rows', 16, 'mask', seen);
  [~, ~, run] = purlin.rpca(A, 'block_rows', 16, 'mask', seen);
  check(isequal(fieldnames(info), fieldnames(run)), 'the whole plan');
  check(info.blocks == run.blocks && info.block_rows == run.block_rows && info.host_bytes == run.host_bytes, 'a plan');
  check(info.contexts == 1 && info.iterations == 0 && ~info.converged, 'nothing is split');
  check_error('purlin:invalidArgument', 'rho', @() purlin.rpca_plan(A, 'rho', 0.5));
  check_error('purlin:cancelled', '', @() purlin.rpca(A, 'progress', @(step, steps, measure) true));
end

function Q = cosines(n, k)
% K orthonormal vectors of length N, all of mean 0.
  Q = sqrt(2 / n) * cos(pi * ((0:n - 1)' + 0.5) * (1:k) / n);
end
