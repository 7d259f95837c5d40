function call_with_any_class(first)
% CALL_WITH_ANY_CLASS  Calls every function of the package with each argument replaced by values of other classes.
% From call FIRST on. call.txt has the call that is being made, and each error that is not of the package is printed.
  warning('off', 'all');
  purlin.configure('backend', 'cpu', 'threads', 1);
  values = {@(varargin) 1, struct(), struct('a', {1, 2}), {1, 'a'}, [], purlin.Matrix(speye(2)), 'abc', true, sparse([1 0; 0 2]), int8(3)};
  words = {'a function', 'struct()', '1x2 struct', 'cell', '[]', 'purlin.Matrix', '''abc''', 'true', 'sparse', 'int8(3)'};
  calls = valid_calls();
  expect_every_function(calls(:, 1));
  number = 0;
  for c = 1:size(calls, 1)
    given = calls{c, 3};
    for k = 1:numel(given)
      for v = 1:numel(values)
        number = number + 1;
        if number < first
          continue;
        end
        file = fopen('call.txt', 'w');
        fprintf(file, '%d: %s, argument %d %s\n', number, calls{c, 1}, k, words{v});
        fclose(file);
        changed = given;
        changed{k} = values{v};
        try
          calls{c, 2}(changed{:});
        catch caught
          if ~strncmp(caught.identifier, 'purlin:', 7)
            printf('wrong: %s, argument %d %s: %s (%s)\n', calls{c, 1}, k, words{v}, caught.identifier, caught.message);
          end
        end
      end
    end
  end
  check(abs(purlin.rsvd(magic(4), 1) - 34) < 1e-12, 'a right result afterwards');
  disp('all calls made');
end

function expect_every_function(names)
% Every function and class of the package is called.
  files = dir(fullfile(fileparts(which('purlin.version')), '*.m'));
  for k = 1:numel(files)
    [~, name] = fileparts(files(k).name);
    if ~any(strcmp(name, [names; {'Contents'}]))
      printf('wrong: %s is not called\n', name);
    end
  end
end

function calls = valid_calls()
% Name, function, and arguments that are right but for their sizes.
  A = magic(6);
  S = sparse(A + A');
  W = sparse(ones(6) - eye(6));
  x = purlin.tt_random([2 2 2], [1 2 2 1]);
  H = purlin.tt_ising(3, 1, 1);
  T = reshape(sin(1:30), 15, 2);
  g = struct('source_to_axis', 500, 'source_to_detector', 1000, 'column_pitch', 2, 'row_pitch', 2, ...
             'detector_columns', 8, 'detector_rows', 8, 'angles', 2 * pi * (0:7) / 8);
  grid = struct('size', [4 4 4], 'spacing', [1 1 1]);
  lines = zeros(8, 8, 8, 'single');
  bvals = [0, 1000 * ones(1, 20)];
  bvecs = [[0; 0; 1], randn(3, 20)];
  bvecs = bvecs ./ sqrt(sum(bvecs .^ 2));
  signals = 100 * ones(21, 2);
  [U, D, V] = svd(A);
  P = purlin.PcaModel(2);
  fit(P, A);
  plan = purlin.SpmvPlan(S);
  F = purlin.Fdk(g, 'grid', grid);
  begin(F);
  E = purlin.TTEnvironments(x, x);
  list = purlin.fdk_shepp_logan(10);
  trains = {x, x};
  empty = cell(1, 0);
  calls = {
    'check', @purlin.check, {S, 'finite'}
    'codes', @() purlin.codes(), empty
    'configure', @purlin.configure, {'threads', 1}
    'context_info', @() purlin.context_info(), empty
    'devices', @() purlin.devices(), empty
    'live_handles', @() purlin.live_handles(), empty
    'version', @() purlin.version(), empty
    'release', @() [], empty
    'drop_zeros', @purlin.drop_zeros, {S, 0}
    'dwi_csa', @purlin.dwi_csa, {signals, bvals, bvecs, 4, 'mrtrix3', 'mask', true(1, 2)}
    'dwi_fit', @purlin.dwi_fit, {signals, bvals, bvecs, 2, 'weights', signals}
    'dwi_peaks', @purlin.dwi_peaks, {T, 4, 'basis', 'tensor', 'mask', true(1, 2)}
    'dwi_plan', @purlin.dwi_plan, {T, 4, 'basis', 'tensor'}
    'fdk_log_transform', @purlin.fdk_log_transform, {lines + 1, 2, zeros(8), 0.5}
    'fdk_reconstruct', @purlin.fdk_reconstruct, {lines, g, 'grid', grid}
    'fdk_shepp_logan', @purlin.fdk_shepp_logan, {10}
    'Fdk', @purlin.Fdk, {g, 'grid', grid}
    'Fdk', @purlin.Fdk, {g, 'devices', 0}
    'Fdk.reconstruct', @(varargin) reconstruct(F, varargin{:}), {lines, []}
    'Fdk.set_counts', @(varargin) set_counts(F, varargin{:}), {2, zeros(8), 0.5}
    'Fdk.push', @(varargin) push(F, varargin{:}), {1, lines(:, :, 1)}
    'Fdk.finish', @(varargin) finish(F, varargin{:}), {[]}
    'Fdk.weight', @(varargin) weight(F, varargin{:}), {1, lines(:, :, 1)}
    'Fdk.filter', @(varargin) filter(F, varargin{:}), {1, lines(:, :, 1)}
    'Fdk.backproject', @(varargin) backproject(F, varargin{:}), {1, lines(:, :, 1), zeros(4, 4, 4, 'single')}
    'Fdk.ellipsoids', @(varargin) ellipsoids(F, varargin{:}), {list}
    'Fdk.ellipsoid_volume', @(varargin) ellipsoid_volume(F, varargin{:}), {list}
    'from_coordinates', @purlin.from_coordinates, {[1 2], [1 2], [1 2], 2, 2, 'sum'}
    'graph_bisect', @purlin.graph_bisect, {W, (1:6)', 'sign'}
    'graph_cluster', @purlin.graph_cluster, {W, 2, 'seed', 1}
    'graph_component', @purlin.graph_component, {W, 1}
    'graph_components', @purlin.graph_components, {W}
    'graph_density', @purlin.graph_density, {W, 3, 2, 'seed', 1}
    'graph_density_histogram', @purlin.graph_density_histogram, {[1 2], [.5 .5], 0, 3, 2}
    'graph_density_trace', @purlin.graph_density_trace, {3, [1 2], [.5 .5], @(x) x}
    'graph_embed', @purlin.graph_embed, {W, 2, 'seed', 1}
    'graph_fiedler', @purlin.graph_fiedler, {W, 'normalized', true}
    'graph_k_means', @purlin.graph_k_means, {A, 2, 'start_count', 3}
    'graph_of_image', @purlin.graph_of_image, {A, 'radius', 1}
    'graph_operator_of_image', @purlin.graph_operator_of_image, {A, 'radius', 1}
    'graph_pivoted_qr', @purlin.graph_pivoted_qr, {A(:, 1:2)}
    'is_symmetric', @purlin.is_symmetric, {S, 0}
    'lanczos', @purlin.lanczos, {S, 2, 'largest', 'start', ones(6, 1)}
    'lanczos', @purlin.lanczos, {S, 2, 'nearest', 'sigma', 1, 'known', ones(6, 1), 'solve', struct('apply', @(X, a) X, 'size', [6 6])}
    'lanczos_cullum_willoughby', @purlin.lanczos_cullum_willoughby, {[1 2 3], [1 1], 1e-8, 1e-8}
    'lanczos_plan', @purlin.lanczos_plan, {S, 2, 'largest', 'known', ones(6, 1)}
    'lanczos_plan_singular', @purlin.lanczos_plan_singular, {S, 2, 'largest', 'seed', 1}
    'lanczos_singular', @purlin.lanczos_singular, {S, 2, 'largest', 'start', ones(6, 1)}
    'lanczos_tridiagonalize', @purlin.lanczos_tridiagonalize, {S, 3, 'seed', 1}
    'matrix_norm', @purlin.matrix_norm, {S, 'one'}
    'Matrix', @purlin.Matrix, {A, 'location', 'host'}
    'order', @purlin.order, {S, 'degree'}
    'pattern', @purlin.pattern, {S}
    'pca', @purlin.pca, {A, 2, 'seed', 1}
    'pca_plan', @purlin.pca_plan, {A, 2, 'seed', 1}
    'PcaModel', @purlin.PcaModel, {2, 'center', true}
    'PcaModel.fit', @(varargin) fit(purlin.PcaModel(2), varargin{:}), {A}
    'PcaModel.fit_transform', @(varargin) fit_transform(purlin.PcaModel(2), varargin{:}), {A}
    'PcaModel.transform', @(varargin) transform(P, varargin{:}), {A}
    'PcaModel.inverse_transform', @(varargin) inverse_transform(P, varargin{:}), {A(:, 1:2)}
    'read_edges', @purlin.read_edges, {'none', 'weighted', true}
    'read_market', @purlin.read_market, {'none'}
    'rpca', @purlin.rpca, {A, 'mask', true(6)}
    'rpca_plan', @purlin.rpca_plan, {A, 'seed', 1}
    'rsvd', @purlin.rsvd, {A, 2, 'progress', @(step, steps, measure) false}
    'rsvd', @purlin.rsvd, {A, 2, 'omega', ones(6, 4)}
    'rsvd', @purlin.rsvd, {struct('apply', @(X, adjoint) A * X, 'size', [6 6]), 2, 'seed', 1}
    'rsvd_error', @purlin.rsvd_error, {A, U, D, V, 'seed', 1}
    'rsvd_plan', @purlin.rsvd_plan, {A, 2, 'seed', 1}
    'rsvd_range', @purlin.rsvd_range, {A, 2, 'seed', 1}
    'rsvd_residuals', @purlin.rsvd_residuals, {A, U, D, V}
    'rsvd_sketch', @purlin.rsvd_sketch, {3, 2, 'seed', 1}
    'rsvd_symmetric', @purlin.rsvd_symmetric, {A + A', 2, 'seed', 1}
    'scale', @purlin.scale, {S, ones(6, 1), ones(6, 1)}
    'sh_to_tensor', @purlin.sh_to_tensor, {T, 4, 'mrtrix3', 'layout', 'first'}
    'spmv', @purlin.spmv, {S, ones(6, 1), 'method', 'merge'}
    'spmv', @purlin.spmv, {S, ones(6, 1), 'kind', 'laplacian'}
    'SpmvPlan', @purlin.SpmvPlan, {S, 'kind', 'laplacian', 'dtype', 'single'}
    'SpmvPlan.apply', @(varargin) apply(plan, varargin{:}), {ones(6, 1), 1, 1, ones(6, 1)}
    'SpmvPlan.update', @(varargin) update(plan, varargin{:}), {S}
    'sshopm_classify', @purlin.sshopm_classify, {[2; 0; 3], 2, 2, 3, [0; 1], 'degeneracy_tolerance', 1e-6}
    'sshopm_plan', @purlin.sshopm_plan, {T, 4, 3, 'seed', 1}
    'sshopm_product', @purlin.sshopm_product, {[2; 1; 3], 2, 2, [1; 1], 2}
    'sshopm_solve', @purlin.sshopm_solve, {T, 4, 3, 'starts', eye(3)}
    'sshopm_solve_all', @purlin.sshopm_solve_all, {T, 4, 3, 'seed', 1}
    'sshopm_starts', @purlin.sshopm_starts, {'random', 3, 4, 0, 'double'}
    'symmetric_convert', @purlin.symmetric_convert, {T, 4, 3, 'entries', 'polynomial'}
    'symmetric_count', @purlin.symmetric_count, {4, 3}
    'symmetric_exponents', @purlin.symmetric_exponents, {4, 3}
    'symmetric_from_full', @purlin.symmetric_from_full, {[2 1; 1 3], 2, 2, 'symmetrize', true}
    'symmetric_identity', @purlin.symmetric_identity, {4, 3, 1, 2, 'double'}
    'symmetric_indices', @purlin.symmetric_indices, {4, 3}
    'symmetric_multinomials', @purlin.symmetric_multinomials, {4, 3}
    'symmetric_norm', @purlin.symmetric_norm, {T, 4, 3, 'frobenius'}
    'symmetric_to_full', @purlin.symmetric_to_full, {T, 4, 3}
    'symmetrize', @purlin.symmetrize, {S, 'union'}
    'tensor_to_sh', @purlin.tensor_to_sh, {T, 4, 'mrtrix3', 'layout', 'first'}
    'Tensor', @purlin.Tensor, {T, 'order', 4, 'dimension', 3}
    'tridiagonal_eigenvalues', @purlin.tridiagonal_eigenvalues, {[1 2 3], [1 1]}
    'TT', @purlin.TT, {{ones(1, 2), 1}, 'location', 'host'}
    'TTContraction', @purlin.TTContraction, {'scaling', 'on'}
    'TTEnvironments', @purlin.TTEnvironments, {x, x, H, 'conjugate', true}
    'TTEnvironments.build', @(varargin) build(E, varargin{:}), {'left', 2}
    'TTEnvironments.update_core', @(varargin) update_core(E, varargin{:}), {2}
    'TTEnvironments.set_trains', @(varargin) set_trains(E, varargin{:}), {x, x, 1, 2}
    'TTEnvironments.get', @(varargin) get(E, varargin{:}), {'left', 2}
    'TTEnvironments.value', @(varargin) value(E, varargin{:}), {2}
    'TTEnvironments.local', @(varargin) local(E, varargin{:}), {2, eye(2)}
    'TTEnvironments.apply', @(varargin) apply(E, varargin{:}), {2, ones(2, 2, 2), 1}
    'TTMatrix', @purlin.TTMatrix, {{ones(1, 2, 2)}, 'location', 'host'}
    'tt_add', @purlin.tt_add, {x, x, 1, 1}
    'tt_apply', @purlin.tt_apply, {H, x, 'tolerance', 1e-6}
    'tt_canonicalize', @purlin.tt_canonicalize, {x, 2}
    'tt_cast', @purlin.tt_cast, {x, 'single', true}
    'tt_conj', @purlin.tt_conj, {x}
    'tt_correlation', @purlin.tt_correlation, {x, eye(2), eye(2), 'scaling', 'on'}
    'tt_distance', @purlin.tt_distance, {x, x, 'scaling', 'on'}
    'tt_distance_scaled', @purlin.tt_distance_scaled, {x, x, 'scaling', 'on'}
    'tt_elements', @purlin.tt_elements, {x, [1; 1; 1]}
    'tt_expect_local', @purlin.tt_expect_local, {x, eye(2), 1:2, 'scaling', 'on'}
    'tt_from_terms', @purlin.tt_from_terms, {[2 2], {{1, 1, eye(2), 2, eye(2)}}, 'cyclic', false}
    'tt_full', @purlin.tt_full, {x}
    'tt_gram', @purlin.tt_gram, {trains, trains, 'scaling', 'on'}
    'tt_gram_scaled', @purlin.tt_gram_scaled, {trains, trains, 'scaling', 'on'}
    'tt_hadamard', @purlin.tt_hadamard, {x, x, 'tolerance', 1e-6}
    'tt_heisenberg', @purlin.tt_heisenberg, {3, [1 1 1], 0, 'twice_spin', 1}
    'tt_identity', @purlin.tt_identity, {[2 2], 'dtype', 'single'}
    'tt_inner', @purlin.tt_inner, {x, x, 'scaling', 'on'}
    'tt_inner_batch', @purlin.tt_inner_batch, {trains, trains, 'scaling', 'on'}
    'tt_inner_batch_scaled', @purlin.tt_inner_batch_scaled, {trains, trains, 'scaling', 'on'}
    'tt_inner_scaled', @purlin.tt_inner_scaled, {x, x, 'scaling', 'on'}
    'tt_ising', @purlin.tt_ising, {3, 1, 1, 'dtype', 'single'}
    'tt_norm', @purlin.tt_norm, {x, 'scaling', 'on'}
    'tt_norm_scaled', @purlin.tt_norm_scaled, {x, 'scaling', 'on'}
    'tt_ones', @purlin.tt_ones, {[2 2], 'dtype', 'single'}
    'tt_plan_batch', @purlin.tt_plan_batch, {trains, trains, 'scaling', 'on'}
    'tt_plan_distance', @purlin.tt_plan_distance, {x, x, 'scaling', 'on'}
    'tt_plan_gram', @purlin.tt_plan_gram, {trains, trains, 'scaling', 'on'}
    'tt_plan_inner', @purlin.tt_plan_inner, {x, x, 'scaling', 'on'}
    'tt_plan_norm', @purlin.tt_plan_norm, {x, 'scaling', 'on'}
    'tt_plan_rayleigh', @purlin.tt_plan_rayleigh, {H, x, 'scaling', 'on'}
    'tt_plan_sandwich', @purlin.tt_plan_sandwich, {x, H, x, 'scaling', 'on'}
    'tt_product_state', @purlin.tt_product_state, {{[1 2], [1 2]}}
    'tt_random', @purlin.tt_random, {[2 2], [1 2 1], 'seed', 1}
    'tt_rayleigh', @purlin.tt_rayleigh, {H, x, 'scaling', 'on'}
    'tt_reverse', @purlin.tt_reverse, {x}
    'tt_rotate', @purlin.tt_rotate, {x, 1}
    'tt_round', @purlin.tt_round, {x, 'tolerance', 1e-6}
    'tt_sandwich', @purlin.tt_sandwich, {x, H, x, 'scaling', 'on'}
    'tt_sandwich_scaled', @purlin.tt_sandwich_scaled, {x, H, x, 'scaling', 'on'}
    'tt_scale', @purlin.tt_scale, {x, 2, 'spread', true}
    'tt_svd', @purlin.tt_svd, {ones(2, 2, 2), 'tolerance', 1e-6}
    'tt_to_open', @purlin.tt_to_open, {x}
    'tt_zeros', @purlin.tt_zeros, {[2 2], 'dtype', 'single'}
    'write_edges', @purlin.write_edges, {S, 'written', true}
    'write_market', @purlin.write_market, {S, 'written', true}};
end
