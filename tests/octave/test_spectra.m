function test_spectra(golden)
% TEST_SPECTRA  Sparse matrices, eigenpairs and graphs: the path, cliques that edges join, and recorded values.
  purlin.configure('backend', 'cpu');
  n = 200;
  P = spdiags(ones(n, 2), [-1, 1], n, n);
  exact = 2 * cos(pi * (1:n)' / (n + 1));
  d = purlin.lanczos(P, 4, 'largest', 'basis', 60);
  check(max(abs(d - exact(1:4))) < 1e-10, 'the path');
  [V, D, info] = purlin.lanczos(P, 4, 'both_ends', 'basis', 60);
  check(max(abs(diag(D) - exact([1, 2, n - 1, n]))) < 1e-9, 'both ends');
  check(max(max(abs(P * V - V * D))) < 1e-8 && max(max(abs(V' * V - eye(4)))) < 1e-12, 'vectors');
  check(info.converged == 4 && strcmp(info.stop_reason, 'converged') && all(info.residuals < 1e-8), 'report');
  check(info.verified == 1, 'no copy is missing');
  check(info.residual > 0 && info.residual < 1e-8, 'the residual of the returned pairs');
  check(info.orthogonality > 0 && info.orthogonality < 1e-12, 'its orthogonality');
  [~, ~, loose] = purlin.lanczos(P, 4, 'largest', 'basis', 60, 'verify', 'off');
  check(loose.verified == 0, 'without the test it is not verified');
  again = purlin.lanczos(P, 2, 'largest', 'basis', 60, 'known', V(:, 1:2), 'start', sin((1:n)'.^2));
  check(max(abs(again - exact(3:4))) < 1e-9, 'known vectors are excluded');
  d = purlin.lanczos(P, 3, 'smallest', 'kind', 'laplacian', 'basis', 80);
  check(max(abs(d - (2 - 2 * cos(pi * (0:2)' / n)))) < 1e-9, 'the Laplacian');
  M = P - exact(50) * speye(n) - 1e-3 * speye(n);
  inverse = struct('apply', @(X, adjoint) M \ X, 'size', [n, n], 'dtype', 'double');
  d = purlin.lanczos(P, 3, 'nearest', 'sigma', exact(50) + 1e-3, 'solve', inverse);
  check(max(abs(sort(d) - sort(exact(49:51)))) < 1e-9, 'a solve of the caller''s');
  check(max(abs(sort(d) - sort(purlin.lanczos(P, 3, 'nearest', 'sigma', exact(50) + 1e-3)))) < 1e-8, 'a filter');
  d = purlin.lanczos(P, 3, 'smallest', 'filter', 'chebyshev');
  check(max(abs(d - exact(n:-1:n - 2))) < 1e-8, 'a filter for the lower end');
  d = purlin.lanczos(P, 3, 'largest', 'orthogonalization', 'partial', 'basis', 60);
  check(max(abs(d - exact(1:3))) < 1e-10, 'partial orthogonality');
  check(max(abs(purlin.lanczos(P, 3, 'largest', 'block', 3, 'basis', 60) - exact(1:3))) < 1e-10, 'blocks');
  check(abs(purlin.lanczos(P, 1, 'largest', 'method', 'plain', 'basis', n) - exact(1)) < 1e-8, 'the plain recurrence');
  [alpha, beta] = purlin.lanczos_tridiagonalize(P, 40, 'seed', 2);
  ritz = eig(diag(alpha) + diag(beta(1:end - 1), 1) + diag(beta(1:end - 1), -1));
  check(numel(alpha) == 40 && numel(beta) == 40 && max(ritz) <= exact(1) + 1e-12 && max(ritz) > 1.9, 'a recurrence');
  random = full(sprand(80, 80, 0.3));
  A = sparse(random + random' + 1i * (random - random'));
  d = purlin.lanczos(A, 3);
  e = sort(eig(full(A)), 'descend');
  check(max(abs(d - e(1:3))) < 1e-9, 'Hermitian');
  W = sparse(random(:, 1:50) + 1i * random(:, 31:80));
  [U, S, V, info] = purlin.lanczos_singular(W, 4);
  plan = purlin.lanczos_plan_singular(W, 4);
  check(strcmp(plan.method, info.method) && strcmp(plan.reason, info.reason) && plan.host_bytes == info.host_bytes, 'a plan');
  check(plan.products == 0 && plan.part_entries == nnz(W) && plan.basis > 4, 'and its sizes');
  check_error('purlin:invalidArgument', 'which', @() purlin.lanczos_plan_singular(W, 4, 'both'));
  e = svd(full(W));
  check(max(abs(diag(S) - e(1:4))) < 1e-9 && norm(W * V - U * S) < 1e-7, 'singular triplets');
  check(info.converged == 4 && all(info.residuals < 1e-7) && norm(U' * U - eye(4)) < 1e-7, 'their report');
  check(max(abs(purlin.lanczos_singular(W.', 2, 'largest', 'kind', 'augmented') - e(1:2))) < 1e-9, 'the augmented matrix');
  check(norm(purlin.lanczos_singular(W, 4, 'largest', 'start', ones(min(size(W)), 1)) - e(1:4)) < 1e-9, 'a start vector');
  check_error('purlin:invalidArgument', 'start: is not', @() purlin.lanczos_singular(W, 4, 'largest', 'start', 1));
  check(norm(purlin.lanczos_singular(W, 4, 'largest', 'start', 1i * ones(min(size(W)), 1)) - e(1:4)) < 1e-9, 'a complex one');
  check_error('purlin:invalidArgument', 'start: is complex', @() purlin.lanczos(P, 2, 'largest', 'start', 1i * ones(n, 1)));
  check_error('purlin:invalidArgument', 'start: is not', @() purlin.lanczos(P, 2, 'largest', 'start', speye(n, 1)));
  [U, S, V, graded] = purlin.lanczos_singular(sparse(1:20, 20:-1:1, 10.^-(0:19)), 12);
  check(max(abs(diag(S) - 10.^-(0:11)')) < 1e-15 && norm(U' * U - eye(12)) < 1e-13 && norm(V' * V - eye(12)) < 1e-13, ...
        'singular values below the root of roundoff');
  check(graded.converged == 12 && max(graded.residuals) < 2e-10, 'their residuals');
  check_error('purlin:invalidArgument', 'k: is 51', @() purlin.lanczos_singular(W, 51));
  [text, identifier] = lastwarn('');
  state = warning('off', 'purlin:noConvergence');
  [~, ~, info] = purlin.lanczos(P, 5, 'smallest', 'kind', 'laplacian', 'restarts', 1);
  warning(state);
  lastwarn(text, identifier);
  check(info.converged < 5 && strcmp(info.stop_reason, 'restarts'), 'too few restarts');
  caida = purlin.read_market(fullfile(golden, 'spectral', 'as-caida20071105.mtx.gz'));
  d = purlin.lanczos(caida, 3);
  check(max(abs(d - [69.643448747; 51.131864981; 41.371202093])) < 1e-8, 'a recorded graph');

  B = sprand(40, 30, 0.2);
  X = rand(30, 3);
  for method = {'auto', 'scalar', 'vector', 'row_group', 'row_bin', 'merge', 'entry_split'}
    check(max(max(abs(purlin.spmv(B, X, 'method', method{1}) - B * X))) < 1e-13, method{1});
  end
  S = sprand(40, 40, 0.1);
  for order = {'none', 'degree', 'cuthill_mckee'}
    check(max(max(abs(purlin.spmv(S, [X; X(1:10, :)], 'ordering', order{1}) - S * [X; X(1:10, :)]))) < 1e-13, order{1});
    check(max(abs(purlin.lanczos(P, 4, 'largest', 'basis', 60, 'ordering', order{1}) - exact(1:4))) < 1e-10, order{1});
  end
  % On the CPU each 0 in `devices` is a further context.
  [~, D, info] = purlin.lanczos(P, 4, 'largest', 'basis', 60, 'devices', [0 0]);
  check(max(abs(diag(D) - exact(1:4))) < 1e-10 && info.contexts == 3 && info.halo == 4, 'three contexts');
  check_error('purlin:invalidArgument', 'devices', @() purlin.lanczos(P, 4, 'largest', 'devices', 0.5));
  check_error('purlin:invalidArgument', 'devices: has 1, the CPU', @() purlin.lanczos(P, 4, 'largest', 'devices', [0 1]));
  check_error('purlin:invalidArgument', 'ordering', @() purlin.spmv(B, X, 'ordering', 'degree'));
  C = B + 2i * B;
  check(max(max(abs(purlin.spmv(C, X) - C * X))) < 1e-12, 'complex products');
  before = purlin.live_handles();
  plan = purlin.SpmvPlan(B);
  for k = 1:3
    check(max(max(abs(apply(plan, X * k) - B * X * k))) < 1e-12, 'a plan for many products');
  end
  check(max(max(abs(apply(plan, X - 2i * X) - B * (X - 2i * X)))) < 1e-12, 'of complex vectors');
  found = describe(plan);
  check(found.rows == 40 && found.nnz == nnz(B) && strcmp(found.ordering, 'none') && ~isempty(found.reason), 'the choices of the plan');
  other = purlin.SpmvPlan(purlin.Matrix(C), 'op', 'adjoint', 'method', 'merge');
  check(max(max(abs(apply(other, [X; X(1:10, :)]) - C' * [X; X(1:10, :)]))) < 1e-12, 'adjoint');
  check(strcmp(describe(other).method, 'merge'), 'as asked');
  check_error('purlin:invalidArgument', 'A: is neither', @() purlin.SpmvPlan(X));
  check_error('purlin:invalidArgument', 'x', @() apply(plan, ones(3, 1)));
  delete(plan);
  check_error('purlin:invalidHandle', '', @() apply(plan, X));
  delete(other.matrix);
  delete(other);
  check(purlin.live_handles() == before, 'plans and their matrices are gone');
  check(max(max(abs(purlin.spmv(B, X + 1i * X) - B * (X + 1i * X)))) < 1e-12, 'of complex vectors');

  truth = kron([1; 2], ones(20, 1));
  W = sparse(double(bsxfun(@eq, truth, truth')) - eye(40));
  W(3, 33) = 1;
  W(33, 3) = 1;
  [v, value] = purlin.graph_fiedler(W);
  [sides, cut] = purlin.graph_bisect(W, v);
  check(value > 0 && cut == 1 && together(sides, truth), 'two sides');
  check(together(purlin.graph_bisect(W, v, 'median'), truth), 'halves');
  check(together(purlin.graph_cluster(W, 2), truth), 'clusters');
  check(together(purlin.graph_cluster(W, 2, 'assignment', 'pivoted_qr'), truth), 'clusters by pivoted QR');
  check_error('purlin:invalidArgument', 'start_count: is set', ...
              @() purlin.graph_cluster(W, 2, 'assignment', 'pivoted_qr', 'start_count', 10));
  check_error('purlin:invalidArgument', 'start_count: is 0', @() purlin.graph_cluster(W, 2, 'start_count', 0));
  [coordinates, values] = purlin.graph_embed(W, 2, 'scaling', 'unit_rows');
  check(abs(values(1)) < 1e-12 && max(abs(sum(coordinates.^2, 2) - 1)) < 1e-12, 'an embedding');
  [labels, count] = purlin.graph_components(blkdiag(W, W));
  check(count == 2 && all(labels == [ones(40, 1); 2 * ones(40, 1)]), 'components');
  [points, weights] = purlin.graph_density(P, 40, 20, 'kind', 'laplacian', 'seed', 1);
  check(abs(sum(weights) - 1) < 1e-12 && abs(sum(weights .* points) - 2) < 0.1, 'a density');
  image = [zeros(6, 4), ones(6, 3)];
  G = purlin.graph_of_image(image, 'floor', 1e-6);
  check(nnz(G) == 2 * (5 * 7 + 6 * 6) && abs(G(1, 2) - 1 - 1e-6) < 1e-14 && G(19, 25) < 1e-5, 'the graph of an image');
  check(together(purlin.graph_cluster(G, 2), 1 + image(:)), 'two halves of an image');
  U = purlin.graph_operator_of_image(image, 'floor', 1e-6);
  check(together(purlin.graph_cluster(U, 2), 1 + image(:)), 'two halves of pixels');
  check(max(abs(purlin.lanczos(U, 3, 'largest') - purlin.lanczos(G, 3, 'largest'))) < 1e-12, 'a graph that is not formed');
  check_error('purlin:invalidArgument', 'radius', @() purlin.lanczos(purlin.graph_operator_of_image(image, 'radius', 0), 2));
  L = tril(W);
  check(isequal(purlin.symmetrize(L, 'mirror'), W) && isequal(purlin.symmetrize(W, 'sum'), 2 * W), 'symmetrize');

  folder = tempname();
  mkdir(folder);
  remove = onCleanup(@() rmdir(folder, 's'));
  purlin.write_market(B, fullfile(folder, 'b.mtx'));
  check(isequal(purlin.read_market(fullfile(folder, 'b.mtx')), B), 'Matrix Market and back');
  purlin.write_market(W, fullfile(folder, 'w.mtx'), true);
  check(isequal(purlin.read_market(fullfile(folder, 'w.mtx')), W), 'one triangle');
  purlin.write_edges(W, fullfile(folder, 'w.txt'), true);
  L = purlin.read_edges(fullfile(folder, 'w.txt'), true);
  check(isequal(purlin.symmetrize(L, 'mirror'), W), 'edges and back');
  check(isequal(purlin.read_edges(fullfile(folder, 'w.txt')) ~= 0, L ~= 0), 'edges without their values');
  file = fopen(fullfile(folder, 'e.txt'), 'w');
  fprintf(file, '# a comment\n70 9 2\n9 70 3\n70 9 4\n');
  fclose(file);
  [E, vertices] = purlin.read_edges(fullfile(folder, 'e.txt'), 'weighted', true, 'duplicates', 'max');
  check(isequal(full(E), [0, 4; 3, 0]) && isequal(vertices, [70; 9]), 'vertices by other names');
  [E, vertices] = purlin.read_edges(fullfile(folder, 'e.txt'));
  check(isequal(full(E), [0, 1; 1, 0]) && isequal(vertices, [70; 9]), 'an edge that is listed twice is one');
  E = purlin.read_edges(fullfile(folder, 'e.txt'), true);
  check(isequal(size(E), [71, 71]) && E(71, 10) == 2, 'the first value stays');
  E = purlin.read_edges(fullfile(folder, 'e.txt'), 'weighted', true, 'duplicates', 'sum');
  check(E(71, 10) == 6, 'values are added');
  check_error('purlin:io', '', @() purlin.read_edges(fullfile(folder, 'e.txt'), 'weighted', true, 'duplicates', 'refuse'));
  check_error('purlin:invalidArgument', 'duplicates', @() purlin.read_edges(fullfile(folder, 'e.txt'), 'duplicates', 'least'));
  check_error('purlin:io', '', @() purlin.read_edges(fullfile(folder, 'nothing')));
  check_error('purlin:io', '', @() purlin.read_market(fullfile(folder, 'nothing')));
  check_error('purlin:invalidArgument', 'which', @() purlin.lanczos(P, 2, 'top'));
  check_error('purlin:invalidArgument', 'there is no colour', @() purlin.lanczos(P, 2, 'largest', 'colour', 1));
  check_error('purlin:invalidArgument', 'not symmetric', @() purlin.lanczos(triu(sparse(random)), 2));
  check_error('purlin:invalidArgument', 'X', @() purlin.spmv(B, rand(7, 1)));
  check_error('purlin:cancelled', '', @() purlin.lanczos(P, 2, 'largest', 'progress', @(a, b, c) true));
  % Errors for names of eigs and of SciPy give purlin's names.
  invalid = 'purlin:invalidArgument';
  words = {'LA', 'largest'; 'largestabs', 'largest_magnitude'; 'LM', 'largest_magnitude'; 'SA', 'smallest'; ...
           'bothendsreal', 'both_ends'};
  for k = 1:size(words, 1)
    text = sprintf('which: is ''%s''; it is ''%s'' here', words{k, :});
    check_error(invalid, text, @() purlin.lanczos(P, 2, words{k, 1}));
    check_error(invalid, text, @() purlin.lanczos_singular(P, 2, words{k, 1}));
  end
  check_error(invalid, '''nearest'' with ''sigma'', 0', @() purlin.lanczos(P, 2, 'SM'));
  check_error(invalid, '''nearest'' with ''sigma'', 0.5', @() purlin.lanczos(P, 2, 0.5));
  words = {'tol', 'tolerance'; 'Tolerance', 'tolerance'; 'MaxIterations', 'restarts'; 'maxiter', 'restarts'; ...
           'ncv', 'basis'; 'SubspaceDimension', 'basis'; 'v0', 'start'; 'Devices', 'devices'};
  for k = 1:size(words, 1)
    text = sprintf('there is no %s; it is %s here', words{k, :});
    check_error(invalid, text, @() purlin.lanczos(P, 2, 'largest', words{k, 1}, 1));
  end
  check_error(invalid, 'it is tolerance here', @() purlin.graph_cluster(P, 2, 'tol', 1e-3));
  check_error(invalid, 'there is no v0; known are', @() purlin.graph_cluster(P, 2, 'v0', 1));
  check_error(invalid, 'solve: is a function handle; a struct is needed', ...
              @() purlin.lanczos(P, 2, 'nearest', 'sigma', 0.3, 'solve', @(x) x));
  test_places();
end

function test_places()
% Sizes, rows and columns in errors are those of the argument, and kinds of any matrix are of it, not of its transpose.
  W = sparse(ones(6) - eye(6));
  W(2, 5) = NaN;
  R = sparse(reshape(sin((1:54) .^ 2), 6, 9));
  functions = {@(A) purlin.graph_embed(A, 2), @(A) purlin.graph_cluster(A, 2), @(A) purlin.graph_fiedler(A), ...
               @(A) purlin.graph_bisect(A, ones(size(A, 1), 1)), @(A) purlin.graph_density(A, 3, 2), ...
               @(A) purlin.lanczos(A, 2), @(A) purlin.lanczos_plan(A, 2), @(A) purlin.lanczos_tridiagonalize(A, 2)};
  for f = 1:numel(functions)
    check_error('purlin:invalidArgument', 'is 6 x 9', @() functions{f}(R));
    if ~any(f == [7, 8])
      check_error('purlin:invalidArgument', 'has NaN in row 2, column 5', @() functions{f}(W));
    end
  end
  check_error('purlin:invalidArgument', 'W: is 6 x 9', @() purlin.graph_components(R));
  check_error('purlin:numerical', 'W: has row sum inf in row 1', @() purlin.graph_embed(1e308 * sparse(ones(6)), 2));
  [points, weights] = purlin.graph_density(R, 6, 300, 'kind', 'gram');
  check(abs(9 * sum(points .* weights) / norm(R, 'fro') ^ 2 - 1) < 0.2, 'a density of A'' * A');
  [V, D] = purlin.lanczos(R, 2, 'kind', 'gram');
  check(norm(R' * (R * V) - V * D) < 1e-8, 'eigenvectors of A'' * A');
end

function yes = together(found, truth)
% The same groups, whatever their numbers.
  pairs = unique([found(:), truth(:)], 'rows');
  yes = size(pairs, 1) == numel(unique(truth)) && numel(unique(found)) == numel(unique(truth));
end
