function test_option_values()
% TEST_OPTION_VALUES  Each option of each family once, with a valid value, which the call takes or refuses as documented.
  purlin.configure('backend', 'cpu');
  decompositions();
  spectra();
  tensors();
  geometry = struct('detector_columns', 16, 'detector_rows', 12, 'column_pitch', 3, 'row_pitch', 3, 'source_to_axis', 500, ...
                    'source_to_detector', 1000, 'angles', (0:19) * pi / 10);
  run('fdk', @(varargin) delete(purlin.Fdk(geometry, varargin{:})), ...
      {'window', 'hann'; 'redundancy', 'full'; 'edge', 'skip'; 'interpolation', 'fast'; 'precision', 'double'; ...
       'mode', 'fdk'; 'fov_mask', true; 'allow_missing', true; 'allow_short_arc', {true, 'redundancy', 'short'}; ...
       'sanitize', true; 'cutoff', {0.9, 'window', 'hann'}; 'truncation', 0.1; 'output_scale', 2; 'output_offset', 1; ...
       'slab', 4; 'view_batch', 4; 'fft_length', 64}, cell(0, 2));
end

function decompositions()
  A = reshape(sin(1:96), 12, 8);
  shared = {'oversampling', 3; 'power_iterations', 3; 'probes', {4, 'error', 'probes'}; 'seed', 4; 'smallest_ratio', 0.1; ...
            'dtype', 'single'; 'method', 'direct'; 'orthonormalization', 'householder'; 'sketch', 'uniform'; ...
            'error', 'probes'; 'iteration_precision', 'full'; 'block_rows', {5, 'method', 'fused'}; ...
            'merge_width', {20, 'method', 'merge'}};
  % They concern a tolerance, GPUs, and matrices that are read in blocks.
  unused = {'tolerance', 0.5; 'max_rank', 5; 'block_columns', 2; 'resident_rows', 5; 'read_rate', 1e6};
  file = [tempname(), '.restart'];
  single_pass = {'one_pass', {true, 'method', 'merge'}};
  rsvd = [shared; {'sign', 'u_max'}; single_pass; {'restart_path', {file, 'method', 'fused'}}];
  centred = {'center', 'columns'; 'scale', {true, 'center', 'columns'}};
  run('rsvd', @(varargin) purlin.rsvd(A, 3, varargin{:}), [rsvd; centred], unused);
  for name = {'max_rank', 'block_columns'}
    check(purlin.rsvd(A, [], 'tolerance', 0.5, name{1}, 6) > 0, 'with a tolerance');
  end
  own = {'samples', 'columns'; 'center', true; 'center', false; 'scale', true; 'scale', false; 'whiten', true};
  unused = [unused; single_pass; {'restart_path', file; 'sign', 'u_max'}];
  run('common', @(varargin) fit(purlin.PcaModel(3, varargin{:}), A), [shared; own], unused);
  run('common', @(varargin) purlin.pca(A, 3, varargin{:}), [shared; own], unused);
  check_error('purlin:invalidArgument', 'sign: is U_MAX for principal components', @() purlin.pca(A, 3, 'sign', 'u_max'));
  p = purlin.PcaModel(2, 'center', false, 'scale', false);
  fit(p, A);
  check(p.mean == 0 & p.scale == 1, 'neither centred nor scaled');
  check(abs(p.singular_values - purlin.rsvd(A, 2)) < 1e-12, 'components of the data as they are');
  q = purlin.PcaModel(2, struct('scale', true));
  fit(q, A);
  check(abs(q.scale' - std(A)) < 1e-12, 'deviations');

  M = sin(1:30)' * cos(1:8);
  M(5, 3) = 9;
  run('rpca', @(varargin) purlin.rpca(M, varargin{:}), ...
      {'lambda', 0.2; 'tolerance', 1e-6; 'mu', 1; 'rho', 1.4; 'threshold', {0.1, 'sparse', true}; 'scale', 2; ...
       'max_iterations', 900; 'max_rank', 3; 'fixed_rank', {2, 'mu', 0.01}; 'power_iterations', 2; 'oversampling', 4; 'block_rows', 5; ...
       'seed', 4; 'warm_start', false; 'dtype', 'single'}, {'frames', 'rows'});
  check(purlin.rpca(M(1:8, :), 'frames', 'rows') - purlin.rpca(M(1:8, :)) < 1e-5, 'frames of a square matrix');
end

function spectra()
  n = 40;
  path = sparse(1:n - 1, 2:n, 1, n, n);
  W = path + path';
  lanczos = {'shift', 2; 'sigma', {1, 'filter', 'chebyshev'}; 'tolerance', 1e-8; 'basis', 20; 'restarts', 900; ...
             'seed', 3; 'verify', 'on'; 'method', 'restart'; 'block', 2; 'orthogonalization', 'partial'; ...
             'filter', 'chebyshev'; 'degree', {20, 'filter', 'chebyshev'}; 'kind', 'laplacian'; 'ordering', 'degree'; ...
             'check_symmetry', true};
  run('lanczos', @(name, varargin) purlin.lanczos(W, 2, part(name), name, varargin{:}), lanczos, cell(0, 2));
  run('lanczos', @(varargin) purlin.graph_embed(W, 2, varargin{:}), lanczos(3:12, :), lanczos([1 2 13:15], :));
  run('lanczos', @(varargin) purlin.graph_cluster(W, 2, varargin{:}), lanczos(3:12, :), lanczos([1 2 13:15], :));
  run('spmv', @(varargin) purlin.SpmvPlan(W, varargin{:}), ...
      {'method', 'merge'; 'op', 'transpose'; 'symmetric', true; 'ordering', 'degree'; 'kind', 'laplacian'; 'shift', 2; ...
       'degree', {3, 'lower', -2, 'upper', 2}; 'lower', {-2, 'degree', 3, 'upper', 2}; ...
       'upper', {2, 'degree', 3, 'lower', -2}}, cell(0, 2));
end

function which = part(name)
  which = 'largest';
  if strcmp(name, 'sigma')
    which = 'nearest';
  end
end

function tensors()
  A = [.2883 -.0031 .1973 -.2485 -.2939 .3847 .2972 .1862 .0919 -.3619 .1241 -.3420 .2127 .2727 -.3054]';
  search = {'goal', 'minima'; 'method', 'power'; 'shift_kind', {'guaranteed', 'method', 'power'}; ...
            'test', {'step', 'method', 'power'}; 'start_kind', 'random'; 'sign', 'raw'; ...
            'compatibility', {'tensor_toolbox', 'method', 'power'}; 'remove_isotropic', false; 'max_iterations', 900; ...
            'warmup', 3; 'seed', {4, 'start_kind', 'random'}; 'shift', {2, 'method', 'power'}; 'tolerance', 1e-8; ...
            'tau', {1e-6, 'method', 'power'}; 'merge_angle', 0.01; 'merge_value', 1e-6; 'degeneracy_tolerance', 1e-6};
  run('sshopm', @(varargin) purlin.sshopm_solve(A, 4, 3, varargin{:}), search, cell(0, 2));
  run('all', @(varargin) purlin.sshopm_solve_all(A, 4, 3, varargin{:}), ...
      {'sign', 'raw'; 'max_iterations', 300; 'starts', 50; 'max_starts', 5000; 'seed', 4; 'tolerance', 1e-9; ...
       'merge_angle', 0.01; 'merge_value', 1e-6; 'degeneracy_tolerance', 1e-6}, cell(0, 2));
  run('peaks', @(varargin) purlin.dwi_peaks(A, 4, 'basis', 'tensor', varargin{:}), ...
      {'format', 'mrtrix'; 'missing', 'zero'; 'start_kind', 'random'; 'method', 'power'; 'max_iterations', 900; ...
       'starts', 50; 'seed', {4, 'start_kind', 'random'}; 'absolute_threshold', 0.1; 'relative_threshold', 0.2; ...
       'min_separation', 0.2; 'tolerance', 1e-8; 'merge_angle', 0.01}, cell(0, 2));
  x = purlin.sshopm_starts('hemisphere', 3, 40);
  bvecs = [[0; 0; 1], x];
  bvals = [0, 1000 * ones(1, 40)];
  signals = 100 * exp(-bvals .* (2e-4 + 1.5e-3 * bvecs(1, :) .^ 2))';
  run('fit', @(varargin) purlin.dwi_fit(signals, bvals, bvecs, 4, varargin{:}), ...
      {'weighting', 'wls'; 'nonpositive', 'skip'; 'b0_threshold', 20; 'clamp', 1e-5}, cell(0, 2));
  run('csa', @(varargin) purlin.dwi_csa(signals, bvals, bvecs, 4, 'mrtrix3', varargin{:}), ...
      {'b0_threshold', 20; 'smoothing', 0.01; 'minimum_signal', 0.01; 'maximum_signal', 0.99}, cell(0, 2));
  train = purlin.tt_random([2 3 2], [1 2 2 1]);
  run('train', @(varargin) purlin.tt_inner(train, train, varargin{:}), ...
      {'method', 'full'; 'scaling', 'always'; 'conjugate', 'none'; 'math', 'default'; 'kernel', 'products'; ...
       'repeat', 1; 'workspace_limit', 1e6}, ...
      {'norm_method', 'qr'; 'assume_hermitian', true; 'cut', 1; 'block', 1});
end

function run(family, call, values, unused)
% Calls CALL with each row of VALUES: a name, and a value or a cell of the value and further options. CALL refuses each row of
% UNUSED. Together they have all options of FAMILY.
  names = purlin.internal.option_names(family);
  absent = names(~ismember(names, [values(:, 1); unused(:, 1)]));
  if ~isempty(absent)
    error('test:failed', 'failed: %s has no value of %s', family, strjoin(absent, ', '));
  end
  for k = 1:size(values, 1)
    caught = attempt(call, values(k, :));
    if ~isempty(caught)
      error('test:failed', 'failed: %s of %s: %s', values{k, 1}, func2str(call), caught.message);
    end
  end
  for k = 1:size(unused, 1)
    caught = attempt(call, unused(k, :));
    if isempty(caught) || ~strncmp(caught.identifier, 'purlin:', 7)
      error('test:failed', 'failed: %s of %s is not refused', unused{k, 1}, func2str(call));
    end
  end
end

function caught = attempt(call, row)
% The error of CALL with the option of a row, or empty.
  given = row{2};
  if ~iscell(given)
    given = {given};
  end
  caught = [];
  try
    call(row{1}, given{:});
  catch caught
  end
end
