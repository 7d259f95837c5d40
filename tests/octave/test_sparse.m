function test_sparse()
% TEST_SPARSE  Operators that are never formed, patterns, plans, scaled matrices, components, recurrences, k-means.
  purlin.configure('backend', 'cpu');
  before = purlin.live_handles();
  % Octave before 7 gave [1i 0; 1 0].
  check(isequal(full(gather(purlin.Matrix(sparse([1i 0; 2 0])))), [1i 0; 2 0]), 'a complex sparse matrix there and back');
  n = 60;
  W = sprand(n, n, 0.1);
  W(:, 5) = 0;
  W(5, :) = 0;
  X = rand(n, 3);
  d = full(sum(W, 2));
  over = zeros(n, 1);
  over(d > 0) = 1 ./ d(d > 0);
  D = diag(sparse(d));
  one = diag(sparse(double(d > 0)));
  R = diag(sparse(over));
  H = sqrt(R);
  kinds = {'matrix', W; 'laplacian', D - W; 'normalized_laplacian', one - H * W * H; 'random_walk_laplacian', one - R * W; ...
           'signless_laplacian', D + W; 'normalized_adjacency', H * W * H; 'modularity', W - d * d' / sum(d); ...
           'gram', W' * W; 'outer_gram', W * W'; 'augmented', [sparse(n, n), W; W', sparse(n, n)]};
  for k = 1:size(kinds, 1)
    L = kinds{k, 2};
    V = rand(size(L, 1), 2);
    for shift = [0, 0.75]
      plan = purlin.SpmvPlan(W, 'kind', kinds{k, 1}, 'shift', shift);
      want = L * V + shift * V;
      check(max(max(abs(apply(plan, V) - want))) < 1e-12 * n, kinds{k, 1});
      check(max(max(abs(apply(plan, V, -2, 0.5, V) - (0.5 * V - 2 * want)))) < 1e-12 * n, 'plus a multiple of the previous result');
      check(strcmp(describe(plan).kind, kinds{k, 1}), 'its kind');
      delete(plan);
    end
  end
  check(max(max(abs(purlin.spmv(W, X, 'kind', 'laplacian', 'shift', 1) - (D - W) * X - X))) < 1e-12, 'at once');
  check_error('purlin:invalidArgument', 'kind', @() purlin.spmv(W, X, 'kind', 'top'));
  check_error('purlin:invalidArgument', 'op: is TRANSPOSE', @() purlin.SpmvPlan(W, 'kind', 'gram', 'op', 'transpose'));
  check_error('purlin:invalidArgument', 'not symmetric', @() purlin.lanczos(W + W', 2, 'largest', 'kind', 'random_walk_laplacian'));

  plan = purlin.SpmvPlan(W, 'kind', 'laplacian');
  update(plan, 3 * W);
  check(max(max(abs(apply(plan, X) - 3 * (D - W) * X))) < 1e-11, 'new values, new degrees');
  check_error('purlin:invalidArgument', 'the plan is for', @() update(plan, speye(n)));
  check_error('purlin:invalidArgument', 'beta: needs Y', @() apply(plan, X, 1, 2));
  check_error('purlin:invalidArgument', 'Y: is not', @() apply(plan, X, 1, 2, ones(2)));
  mixed = apply(plan, X, 1i, 2, X);
  check(max(max(abs(mixed - (3i * (D - W) * X + 2 * X)))) < 1e-11, 'complex factors of a real matrix');
  delete(plan);
  C = W + 1i * sprand(W);
  plan = purlin.SpmvPlan(C, 'op', 'adjoint');
  check(max(max(abs(apply(plan, X, 2i, 1 - 1i, X) - (2i * C' * X + (1 - 1i) * X)))) < 1e-12, 'of a complex one');
  delete(plan);

  % Logical matrices are patterns.
  P = W ~= 0;
  M = purlin.Matrix(P);
  found = describe(M);
  again = gather(M);
  check(found.pattern && islogical(again) && isequal(again, P) && found.bytes < 12 * nnz(P) + 8 * n + 16, 'a pattern stays one');
  delete(M);
  M = purlin.Matrix(W);
  check(~describe(M).pattern && ~islogical(gather(M)), 'numbers stay numbers');
  delete(M);
  check(isequal(purlin.spmv(P, X), double(P) * X) || norm(purlin.spmv(P, X) - double(P) * X, 1) < 1e-12, 'products with patterns');
  plan = purlin.SpmvPlan(P, 'kind', 'laplacian');
  check(norm(apply(plan, X) - (diag(sum(P, 2)) - P) * X, 1) < 1e-11, 'their Laplacians');
  delete(plan);
  S = P | P';
  check(max(abs(purlin.lanczos(S, 3) - purlin.lanczos(double(S), 3))) < 1e-10, 'their eigenvalues');
  [labels, count] = purlin.graph_components(S);
  check(count >= 2 && labels(5) ~= labels(1), 'their components');
  [B, vertices] = purlin.graph_component(S);
  check(islogical(B) && isequal(B, S(vertices, vertices)) && numel(vertices) == max(histc(labels, 1:count)), 'the largest of them');
  [B, vertices] = purlin.graph_component(double(S), labels(5));
  check(isequal(vertices, 5) && isequal(B, sparse(1, 1)), 'one of them');
  check_error('purlin:invalidArgument', sprintf('which: is %d, outside 1 to %d', count + 1, count), @() purlin.graph_component(S, count + 1));
  test_counts();

  rows = rand(n, 1) + 1;
  cols = rand(n, 1) + 1;
  check(norm(purlin.scale(W, rows, cols) - diag(sparse(rows)) * W * diag(sparse(cols)), 1) < 1e-12, 'scaled');
  check(norm(purlin.scale(P, [], cols) - P * diag(sparse(cols)), 1) < 1e-12, 'a pattern scaled');
  check(norm(purlin.scale(W, 1i * rows, []) - 1i * diag(sparse(rows)) * W, 1) < 1e-12, 'by complex numbers');
  check_error('purlin:invalidArgument', 'rows', @() purlin.scale(W, rows(1:3), []));

  purlin.check(W);
  spoilt = sparse([1, 2, 3], [2, 3, 1], [1, NaN, 2]);
  check_error('purlin:invalidArgument', 'in row 3, column 2, entry 3: is NaN', @() purlin.check(spoilt));
  check_error('purlin:invalidArgument', 'is NaN', @() purlin.check(spoilt, 'finite'));
  purlin.check(spoilt, 'sorted', 'distinct');
  M = purlin.Matrix(spoilt);
  check_error('purlin:invalidArgument', 'in row 2, column 3, entry 2: is NaN', @() purlin.check(M));
  delete(M);
  check_error('purlin:invalidArgument', 'what: is none of', @() purlin.check(W, 'colour'));

  n = 200;
  A = spdiags(ones(n, 2), [-1, 1], n, n);
  exact = 2 * cos(pi * (1:n)' / (n + 1));
  [alpha, beta] = purlin.lanczos_tridiagonalize(A, n, 'seed', 2);
  [values, residuals, copies] = purlin.lanczos_cullum_willoughby(alpha, beta);
  check(~isempty(values) && all(residuals < 1e-5) && all(copies >= 1), 'values that passed the test');
  check(max(arrayfun(@(v) min(abs(exact - v)), values)) < 1e-5 && abs(values(end) - exact(1)) < 1e-9, 'are eigenvalues');
  [ritz, first, last] = purlin.tridiagonal_eigenvalues(alpha, beta(1:end - 1));
  T = diag(alpha) + diag(beta(1:end - 1), 1) + diag(beta(1:end - 1), -1);
  check(max(abs(ritz - sort(eig(T)))) < 1e-12 && abs(norm(first) - 1) < 1e-12 && abs(norm(last) - 1) < 1e-12, 'of T itself');
  check_error('purlin:invalidArgument', 'off', @() purlin.tridiagonal_eigenvalues(alpha, beta));

  truth = kron([1; 2; 3], ones(20, 1));
  points = [truth, mod(truth, 2)] + 0.01 * rand(60, 2);
  [labels, inertia] = purlin.graph_k_means(points, 3, 'seed', 3);
  check(size(unique([labels, truth], 'rows'), 1) == 3 && inertia < 0.1, 'k-means');
  basis = double(bsxfun(@eq, truth, 1:3)) / sqrt(20);
  labels = purlin.graph_pivoted_qr(basis);
  check(size(unique([labels, truth], 'rows'), 1) == 3, 'pivoted QR');
  [points, weights] = purlin.graph_density(A, 40, 20, 'kind', 'laplacian', 'seed', 1);
  check(abs(purlin.graph_density_trace(n, points, weights, @(x) x) - 2 * (n - 1)) < 20, 'a trace');
  shares = purlin.graph_density_histogram(points, weights, 0, 4, 8);
  check(isequal(size(shares), [8, 1]) && abs(sum(shares) - 1) < 1e-12 && shares(1) > shares(4), 'shares of a spectrum');
  check_error('purlin:invalidArgument', 'to: is 0', @() purlin.graph_density_histogram(points, weights, 0, 0, 8));
  check(purlin.live_handles() == before, 'nothing is left');
end

function test_counts()
% Messages leave line numbers of files and the caller's own indices unchanged, and count positions in lists from 1.
  path = [tempname() ' row 3.mtx'];
  cleanup = onCleanup(@() delete(path));
  put = @(text) fprintf_to(path, text);
  put(sprintf('%%%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 2\n'));
  % Octave puts the gateway's name in front.
  text = message_of(@() purlin.read_market(path));
  want = [path ': line 3: row 4, outside 1 to 3'];
  check(numel(text) >= numel(want) && strcmp(text(end - numel(want) + 1:end), want), 'the numbers of a file');
  put('nothing');
  check(~isempty(strfind(message_of(@() purlin.read_market(path)), path)), 'a number in the name of a file');
  check_error('purlin:invalidArgument', 'element 3 is 9, outside 1 to 3', ...
    @() purlin.from_coordinates([1 2 9], [1 2 3], [1 1 1], 3, 3));
  A = ones(6, 3);
  A(5, 2) = NaN;
  check_error('purlin:invalidArgument', 'M: has NaN in row 5, column 2', @() purlin.rpca(A));
  check_error('purlin:invalidArgument', 'M: has NaN in row 2, column 5', @() purlin.rpca(A'));
  check_error('purlin:invalidArgument', 'has NaN in row 2, column 5', @() purlin.rsvd(A', 2));
  check_error('purlin:invalidArgument', 'has NaN in row 2, column 5', @() purlin.rsvd(sparse(A'), 2));
end

function fprintf_to(path, text)
  file = fopen(path, 'w');
  fprintf(file, '%s', text);
  fclose(file);
end

function text = message_of(action)
  text = '';
  try
    action();
  catch caught
    text = caught.message;
  end
end
