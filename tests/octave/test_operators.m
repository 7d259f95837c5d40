function test_operators()
% TEST_OPERATORS  Filters, plans of operators, single precision, duplicate entries, orders, and solves that do not converge.
  purlin.configure('backend', 'cpu');
  before = purlin.live_handles();
  n = 40;
  W = sprand(n, n, 0.15);
  X = rand(n, 2);
  I = speye(n);

  % Filters are polynomials: T_3(t) = 4 t^3 - 3 t.
  t = (2 * (W' + 0.5 * I) - (3 - 1) * I) / (3 + 1);
  want = 4 * (t * (t * (t * X))) - 3 * (t * X);
  plan = purlin.SpmvPlan(W, 'op', 'transpose', 'shift', 0.5, 'degree', 3, 'lower', -1, 'upper', 3);
  check(max(max(abs(apply(plan, X) - want))) < 1e-12 * n, 'a filter');
  check(max(max(abs(apply(plan, X, 2, -1, X) - (2 * want - X)))) < 1e-12 * n, 'plus a multiple of the previous result');
  check(describe(plan).degree == 3, 'its degree');
  delete(plan);
  flat = purlin.spmv(W, X, 'degree', 1, 'lower', -1, 'upper', 1);
  check(max(max(abs(flat - W * X))) < 1e-13 * n, 'of degree 1 over -1 to 1 the matrix itself');
  check_error('purlin:invalidArgument', 'upper: is 0', @() purlin.SpmvPlan(W, 'degree', 2));

  % The graph of an image, formed and not.
  image = rand(5, 8);
  formed = purlin.graph_of_image(image, 'radius', 1.5, 'floor', 1e-3);
  unformed = purlin.graph_operator_of_image(image, 'radius', 1.5, 'floor', 1e-3);
  for kind = {'matrix', 'laplacian', 'random_walk_laplacian', 'modularity'}
    a = purlin.spmv(formed, X, 'kind', kind{1});
    b = purlin.spmv(unformed, X, 'kind', kind{1});
    check(max(max(abs(a - b))) < 1e-13, kind{1});
  end
  plan = purlin.SpmvPlan(unformed);
  check(max(max(abs(apply(plan, X) - formed * X))) < 1e-13 && describe(plan).nnz == 0, 'a plan of an operator');
  delete(plan);
  single_one = purlin.graph_of_image(single(image), 'radius', 1.5, 'floor', 1e-3);
  check(max(max(abs(single_one - formed))) < 1e-6 && ~isequal(single_one, formed), 'in single precision');

  % Single precision of matrices that MATLAB stores in double.
  for S = {W, W + 1i * sprand(W)}
    plan = purlin.SpmvPlan(S{1}, 'dtype', 'single');
    Y = apply(plan, X);
    check(isa(Y, 'single') && max(max(abs(double(Y) - S{1} * X))) < 1e-5, 'single products');
    check(max(max(abs(double(apply(plan, X, 2, 1, X)) - 2 * S{1} * X - X))) < 1e-5, 'plus a multiple of the previous result');
    delete(plan);
  end
  A = W + W';
  d = purlin.lanczos(A, 2, 'largest', 'dtype', 'single');
  e = purlin.lanczos(A, 2);
  check(max(abs(d - e)) < 1e-4 * abs(e(1)) && ~isequal(d, e), 'single eigenvalues');
  labels = purlin.graph_k_means(single([rand(20, 2); 5 + rand(20, 2)]), 2);
  check(all(labels(1:20) == labels(1)) && all(labels(21:40) ~= labels(1)), 'single points');

  % The symmetry of a matrix given by its products is tested on request.
  for off = [0, 1e-3]
    B = full(A);
    B(1, 7) = B(1, 7) + off;
    own = struct('apply', @(V, adjoint) pick(adjoint, B', B) * V, 'size', [n, n], 'dtype', 'double');
    if off == 0
      check(abs(purlin.lanczos(own, 1, 'largest', 'check_symmetry', true) - e(1)) < 1e-9, 'a symmetric one passes');
    else
      check_error('purlin:invalidArgument', 'not symmetric', @() purlin.lanczos(own, 1, 'largest', 'check_symmetry', true));
    end
  end

  % Residuals that contradict the method are no success.
  m = 200;
  entries = (1:m)';
  own = struct('apply', @(V, adjoint) entries .* V, 'size', [m, m], 'dtype', 'double');
  for beside = [0, 1e-6]
    inverse = struct('apply', @(V, adjoint) V ./ (entries - 20.3 - beside), 'size', [m, m], 'dtype', 'double');
    warning('off', 'purlin:noConvergence', 'local');
    [~, ~, info] = purlin.lanczos(own, 3, 'nearest', 'sigma', 20.3, 'solve', inverse);
    if beside == 0
      check(strcmp(info.stop_reason, 'converged') && info.converged == 3, 'a solve');
    else
      check(strcmp(info.stop_reason, 'contradicted') && info.converged < 3 && info.verified == 0, 'a solve with another matrix');
    end
  end
  skewed = diag(1:n) + diag(100 * ones(1, n - 1), 1);
  own = struct('apply', @(V, adjoint) pick(adjoint, skewed', skewed) * V, 'size', [n, n], 'dtype', 'double');
  check_error('purlin:numerical', 'not symmetric', @() purlin.lanczos(own, 3));

  % Duplicate entries, and orders.
  i = [1; 1; 2];
  j = [2; 2; 3];
  v = [5; -7; 3];
  kept = {'sum', -2; 'first', 5; 'last', -7; 'max', 5};
  for k = 1:size(kept, 1)
    made = purlin.from_coordinates(i, j, v, 3, 4, kept{k, 1});
    check(full(made(1, 2)) == kept{k, 2} && full(made(2, 3)) == 3, kept{k, 1});
  end
  check(isequal(purlin.from_coordinates(i, j, v, 3, 4), sparse(i, j, v, 3, 4)), 'sums by default');
  made = purlin.from_coordinates(i, j, [], 3, 4, 'first');
  check(full(made(1, 2)) == 1, 'ones');
  check_error('purlin:invalidArgument', 'are both', @() purlin.from_coordinates(i, j, v, 3, 4, 'refuse'));
  check_error('purlin:invalidArgument', 'i: element 2', @() purlin.from_coordinates([1; 0.5; 2], j, v, 3, 4));
  P = A(randperm(n), randperm(n));
  P = P + P' > 0;
  for how = {'degree', 'cuthill_mckee'}
    list = purlin.order(P, how{1});
    check(isequal(sort(list), (1:n)'), how{1});
  end
  lengths = full(sum(P(purlin.order(P, 'degree'), :), 2));
  check(all(diff(lengths) <= 0), 'long rows first');
  for how = {'none', 'top'}
    check_error('purlin:invalidArgument', 'method', @() purlin.order(P, how{1}));
  end
  check_error('purlin:invalidArgument', 'square', @() purlin.order(W(:, 1:3), 'degree'));
  band = spdiags(ones(n, 2), [-1, 1], n, n);
  shuffled = randperm(n);
  list = purlin.order(band(shuffled, shuffled), 'cuthill_mckee');
  [row, col] = find(band(shuffled(list), shuffled(list)));
  check(max(abs(row - col)) == 1, 'a path is a band again');
  check(isequal(purlin.from_coordinates(i, j, true(3, 1), 3, 4, 'last'), sparse([1; 2], [2; 3], 1, 3, 4)), 'logical values');
  made = purlin.from_coordinates(i, j, [1; 2i; 3], 3, 4, 'max');
  check(full(made(1, 2)) == 2i, 'the largest by modulus');
  check(isequal(purlin.from_coordinates([], [], [], 2, 3), sparse(2, 3)), 'no entries');

  % Norms, symmetry, patterns and small entries, against MATLAB's own arithmetic.
  C = W + 1i * sprand(W);
  for S = {W, C, W > 0.5, sparse(3, 4)}
    full_one = double(full(S{1}));
    M = purlin.Matrix(S{1});
    for given = {S{1}, M}
      check(abs(purlin.matrix_norm(given{1}) - norm(full_one, 'fro')) < 1e-12 * n, 'Frobenius');
      check(abs(purlin.matrix_norm(given{1}, 'one') - norm(full_one, 1)) < 1e-12 * n, 'largest column');
      check(abs(purlin.matrix_norm(given{1}, 'infinity') - norm(full_one, Inf)) < 1e-12 * n, 'largest row');
      check(abs(purlin.matrix_norm(given{1}, 'max') - max(abs(full_one(:)))) < 1e-15, 'largest entry');
      made = purlin.pattern(given{1});
      check(islogical(made) && isequal(made, S{1} ~= 0), 'a pattern');
      made = purlin.drop_zeros(given{1}, 0.5);
      want = S{1};
      want(abs(want) <= 0.5) = 0;
      check(isequal(made, want) && islogical(made) == islogical(S{1}), 'small entries are dropped');
      check(isequal(purlin.drop_zeros(given{1}), S{1}), 'no zeros to drop');
    end
    delete(M);
  end
  check(isnan(purlin.matrix_norm(sparse([NaN, 1]))) && nnz(purlin.drop_zeros(sparse([NaN, 1]), 2)) == 1, 'NaN stays');
  nearly = A;
  [row, col] = find(A, 1);
  nearly(row, col) = A(row, col) * (1 + 1e-9);
  pairs = {A, 0, true; nearly, 0, row == col; nearly, 1e-8, true; triu(A, 1), 0.5, false; C + C', 0, true; C + C.', 0, false; ...
           W(:, 1:3), 0, false; A ~= 0, 0, true};
  for k = 1:size(pairs, 1)
    yes = purlin.is_symmetric(pairs{k, 1}, pairs{k, 2});
    check(islogical(yes) && yes == pairs{k, 3}, sprintf('symmetry %d', k));
  end
  check(purlin.is_symmetric(A), 'with no tolerance');
  check_error('purlin:invalidArgument', 'kind', @() purlin.matrix_norm(A, 'two'));
  check_error('purlin:invalidArgument', 'tolerance', @() purlin.is_symmetric(A, -1));
  check_error('purlin:invalidArgument', 'threshold', @() purlin.drop_zeros(A, -1));
  check_error('purlin:notSupported', 'sparse', @() purlin.matrix_norm(full(A)));

  % Conversions of matrices in single precision.
  M = purlin.Matrix(W, 'dtype', 'single');
  rows = rand(n, 1);
  check(norm(purlin.scale(M, rows, []) - diag(sparse(rows)) * W, 1) < 1e-5, 'scaled in single precision');
  check(norm(purlin.symmetrize(M, 'sum') - A, 1) < 1e-5 && abs(purlin.matrix_norm(M) - norm(W, 'fro')) < 1e-5, 'and symmetrized');
  plan = purlin.SpmvPlan(W, 'dtype', 'single');
  update(plan, 2 * W);
  check(max(max(abs(double(apply(plan, X)) - 2 * W * X))) < 1e-5, 'new values in single precision');
  delete(plan);
  delete(M);
  plan = purlin.SpmvPlan(W ~= 0, 'dtype', 'single');
  check(max(max(abs(double(apply(plan, X)) - (W ~= 0) * X))) < 1e-5, 'a single pattern');
  delete(plan);
  halves = [zeros(4, 3), ones(4, 3)];
  unformed = purlin.graph_operator_of_image(single(halves), 'floor', 1e-3);
  Y = purlin.spmv(unformed, ones(24, 1));
  check(isa(Y, 'single') && max(abs(double(Y) - sum(purlin.graph_of_image(halves, 'floor', 1e-3), 2))) < 1e-5, 'single pixels');
  labels = purlin.graph_pivoted_qr(single(kron(eye(2), ones(8, 1)) / sqrt(8)));
  check(all(labels(1:8) == labels(1)) && all(labels(9:16) == 3 - labels(1)), 'single columns');

  plan = purlin.lanczos_plan(A);
  check(strcmp(plan.method, 'restart') && plan.basis > 6 && plan.host_bytes > 0 && plan.products == 0, 'a plan');
  check(plan.contexts == 1 && plan.part_rows == n && plan.part_entries == nnz(A) && plan.halo == 0, 'one context has all');

  % On the CPU each 0 in `devices` is a further context.
  plan = purlin.lanczos_plan(A, 6, 'largest', 'devices', [0, 0]);
  check(plan.contexts == 3 && plan.part_rows < n && plan.part_entries < nnz(A) && plan.halo > 0, 'three share it');
  check_error('purlin:invalidArgument', 'block', @() purlin.lanczos_plan(A, 2, 'nearest', 'block', 2));
  check_error('purlin:invalidArgument', 'ordering', @() purlin.lanczos_plan(A, 2, 'largest', 'kind', 'gram', 'ordering', 'degree'));
  cliques = kron(speye(2), sparse(ones(10) - eye(10)));
  cliques(3, 13) = 1;
  cliques(13, 3) = 1;
  [coordinates, values, info] = purlin.graph_embed(cliques, 2, 'devices', 0);
  [~, alone] = purlin.graph_embed(cliques, 2);
  check(info.contexts == 2 && max(abs(values - alone)) < 1e-10 && isequal(size(coordinates), [20, 2]), 'embedded by two');
  [labels, ~, info] = purlin.graph_cluster(cliques, 2, 'devices', 0);
  check(info.contexts == 2 && all(labels(1:10) == labels(1)) && all(labels(11:20) == 3 - labels(1)), 'clustered by two');
  [vector, value, info] = purlin.graph_fiedler(cliques, 'devices', 0);
  L = diag(sum(cliques, 2)) - cliques;
  check(info.contexts == 2 && norm(L * vector - value * vector) < 1e-8 && value > 0, 'the Fiedler vector of two');

  % Results that did not converge are returned.
  m = 400;
  path = spdiags(ones(m, 2), [-1, 1], m, m);
  warning('off', 'purlin:noConvergence', 'local');
  [coordinates, values, info] = purlin.graph_embed(path, 3, 'basis', 7, 'restarts', 1);
  check(info.converged < 3 && isequal(size(coordinates), [m, 3]) && abs(norm(coordinates(:, 1)) - 1) < 1e-8, 'coordinates');
  [few, low, info] = purlin.graph_embed(path, 20, 'method', 'plain', 'basis', 25);
  check(info.count < 20 && isequal(size(few), [m, info.count]) && numel(low) == info.count, 'no coordinates that are not there');
  [vector, value, info] = purlin.graph_fiedler(path, 'basis', 7, 'restarts', 1);
  check(info.converged == 0 && abs(norm(vector) - 1) < 1e-8 && value > 0, 'a vector');
  check_error('purlin:invalidArgument', 'method: is PLAIN', @() purlin.graph_fiedler(path, 'method', 'plain', 'basis', 2));
  [labels, inertia, info] = purlin.graph_cluster(path, 3, 'method', 'plain', 'basis', 2);
  check(info.count == 0 && all(labels == 0) && isnan(inertia), 'no labels');
  check(numel(values) == 3 && numel(purlin.graph_cluster(path, 3, 'basis', 7, 'restarts', 1)) == m, 'labels');
  check(purlin.live_handles() == before, 'no handle is left');
end

function value = pick(yes, a, b)
  value = b;
  if yes
    value = a;
  end
end
