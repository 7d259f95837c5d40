function test_rsvd()
% TEST_RSVD  Randomized SVD of matrices whose factors are known: full, sparse, complex, from files.
  purlin.configure('backend', 'cpu');
  m = 120;
  n = 70;
  sigma = 0.6 .^ (0:29);
  A = cosines(m, 30) * diag(sigma) * cosines(n, 30)';
  exact = struct('power_iterations', 6);

  [U, S, V, info] = purlin.rsvd(A, 5, exact);
  check(isequal(size(U), [m 5]) && isequal(size(S), [5 5]) && isequal(size(V), [n 5]), 'sizes as svds has them');
  check(abs(diag(S)' - sigma(1:5)) < 1e-12, 'singular values');
  check(norm(U' * U - eye(5)) < 1e-12 && norm(V' * V - eye(5)) < 1e-12, 'orthonormal factors');
  check(norm(A * V - U * S) < 1e-10, 'A V = U S');
  [~, at] = max(abs(V));
  check(V(sub2ind(size(V), at, 1:5)) > 0, 'the sign that was promised');
  check(abs(info.error_frobenius - norm(A - U * S * V', 'fro')) < 1e-10, 'the error is known');
  check(strcmp(info.dtype, 'double') && info.rank == 5 && info.passes > 0 && ~isempty(info.reason), 'the info');
  s = purlin.rsvd(A, 5, exact);
  check(isequal(size(s), [5 1]) && abs(s' - sigma(1:5)) < 1e-12, 'values alone');
  [U, S] = purlin.rsvd(A, 5, exact);
  check(size(U, 2) == 5 && abs(S(1) - 1) < 1e-12, 'two outputs');
  plan = purlin.rsvd_plan(A, 5, exact);
  check(plan.columns == 15 && plan.passes > 0, 'the plan');
  % Of few columns beside the wanted ones U is the largest matrix of the run.
  tall = randn(500, 40);
  values = purlin.rsvd_plan(tall, 36, 'method', 'range', 'with_u', false, 'with_v', false);
  both = purlin.rsvd_plan(tall, 36, 'method', 'range');
  check(values.host_bytes < both.host_bytes, 'the plan of values alone');

  s = purlin.rsvd(single(A), 4, exact);
  check(isa(s, 'single') && abs(double(s)' - sigma(1:4)) < 5e-6, 'single');
  s = purlin.rsvd(single(A), 4, 'power_iterations', 6, 'dtype', 'double');
  check(isa(s, 'double'), 'computed in double');
  [U, S, V] = purlin.rsvd(1i * A, 4, exact);
  check(~isreal(U) && norm(1i * A * V - U * S) < 1e-10 && abs(diag(S)' - sigma(1:4)) < 1e-12, 'complex');
  bytes = uint8((1:12)' * (1:9));
  s = purlin.rsvd(bytes, 1);
  check(isa(s, 'single') && abs(double(s) - norm(double(bytes))) < 1e-2, 'integers');
  P = sparse(A .* (abs(A) > 0.002));
  s = purlin.rsvd(P, 5, 'power_iterations', 30);
  full_values = svd(full(P));
  check(abs(s - full_values(1:5)) < 1e-8, 'sparse');
  [U, S, V] = purlin.rsvd(P.', 2, 'power_iterations', 30);
  check(size(U, 1) == n && size(V, 1) == m && norm(P.' * V - U * S) < 1e-6, 'sparse and wide');
  M = purlin.Matrix(A);
  check(abs(purlin.rsvd(M, 5, exact)' - sigma(1:5)) < 1e-12, 'a matrix of the library');
  delete(M);

  [U, S, V, info] = purlin.rsvd(A, [], 'tolerance', 1e-3, 'block_columns', 4);
  check(info.converged && info.rank == size(U, 2) && size(U, 2) < 19, 'as many as it takes');
  check(norm(A - U * S * V', 'fro') <= 1e-3 * norm(A, 'fro'), 'and no worse than asked for');

  [U, S, V] = purlin.rsvd(A, 5, exact);
  [frobenius, spectral] = purlin.rsvd_error(A, U, S, V);
  truth = norm(A - U * S * V', 'fro');
  check(frobenius > truth / 2 && frobenius < 2 * truth && spectral >= sigma(6) * 0.999, 'the estimated error');
  [~, spectral] = purlin.rsvd_error(A, U, S, V, 'error', 'power');
  check(abs(spectral / norm(A - U * S * V') - 1) < 0.05, 'the estimated spectral norm');
  [left, right] = purlin.rsvd_residuals(A, U, diag(S), V);
  check(isequal(size(left), [5 1]) && left < 1e-10 && right < 1e-6, 'residuals');
  [Q, B] = purlin.rsvd_range(A, 12);
  check(norm(Q' * Q - eye(12)) < 1e-12 && norm(Q * B - A) < sigma(12), 'a basis of the range');
  check_error('purlin:invalidArgument', 'method: is KRYLOV for a basis of the range', ...
              @() purlin.rsvd_range(A, 12, 'method', 'krylov'));
  [W, D] = purlin.rsvd_symmetric(diag((-0.5) .^ (0:49)), 3, 'power_iterations', 8);
  check(abs(diag(D)' - [1 -0.5 0.25]) < 1e-12 && abs(abs(W(2, 2)) - 1) < 1e-10, 'eigenpairs');
  omega = purlin.rsvd_sketch(n, 15, 'seed', 3);
  [~, ~, ~, info] = purlin.rsvd(A, 5, 'omega', omega);
  check(strcmp(info.sketch, 'given'), 'a given sketch');
  smaller = purlin.rsvd_sketch(9, 2, 'seed', 3);
  check(isequal(omega(1:9, 1:2), smaller), 'an entry depends on its place alone');

  reads_files(A, sigma, exact);
  calls_functions(A, sigma, exact);

  check_error('purlin:invalidArgument', 'devices: has 1, the context in use is on the CPU: rows', @() purlin.rsvd(A, 2, 'devices', 0));
  check_error('purlin:invalidArgument', 'devices', @() purlin.rsvd(A, 2, 'devices', 0.5));
  check_error('purlin:invalidArgument', 'k', @() purlin.rsvd(A, 0));
  check_error('purlin:invalidArgument', 'there is no colour', @() purlin.rsvd(A, 2, 'colour', 1));
  check_error('purlin:invalidArgument', 'method', @() purlin.rsvd(A, 2, 'method', 'guess'));
  check_error('purlin:cancelled', '', @() purlin.rsvd(A, 4, 'progress', @(step, steps, measure) true));
  check_error('mine:stop', 'enough', @() purlin.rsvd(A, 4, 'progress', ...
              @(step, steps, measure) error('mine:stop', 'enough')));
end

function Q = cosines(n, k)
% K orthonormal vectors of length N, all of mean 0.
  Q = sqrt(2 / n) * cos(pi * ((0:n - 1)' + 0.5) * (1:k) / n);
end

function reads_files(A, sigma, exact)
  folder = tempname();
  mkdir(folder);
  remove = onCleanup(@() rmdir(folder, 's'));
  raw = fullfile(folder, 'a.raw');
  file = fopen(raw, 'w', 'ieee-le');
  fwrite(file, A, 'double');
  fclose(file);
  described = struct('file', raw, 'size', size(A), 'dtype', 'double');
  [U, S] = purlin.rsvd(described, 5, exact);
  check(size(U, 1) == size(A, 1) && abs(diag(S)' - sigma(1:5)) < 1e-12, 'a raw file');
  described.mapped = true;
  check_error('purlin:invalidArgument', 'mapped', @() purlin.rsvd(described, 5, exact));
  described = rmfield(described, 'mapped');
  cut = setfield(described, 'file', [raw char(0) 'b']);
  check_error('purlin:invalidArgument', 'null character', @() purlin.rsvd(cut, 5, exact));
  described.order = 'rows';
  [U, ~, V] = purlin.rsvd(described, 5, exact);
  check(size(U, 1) == size(A, 2) && size(V, 1) == size(A, 1), 'the same by rows is the transpose');
  npy = fullfile(folder, 'a.npy');
  header = sprintf('{''descr'': ''<f8'', ''fortran_order'': True, ''shape'': (%d, %d), }', size(A));
  file = fopen(npy, 'w', 'ieee-le');
  fwrite(file, [147, double('NUMPY'), 1, 0, 118, 0, double(header), repmat(32, 1, 117 - numel(header)), 10], 'uint8');
  fwrite(file, A, 'double');
  fclose(file);
  check(abs(purlin.rsvd(npy, 5, exact)' - sigma(1:5)) < 1e-12, 'a file of NumPy');
  check_error('purlin:io', 'no such folder', ...
              @() purlin.rsvd(A, 5, 'method', 'range', 'restart_path', fullfile(folder, 'no such folder', 'state')));
  check_error('purlin:io', 'none.npy', @() purlin.rsvd(fullfile(folder, 'none.npy'), 5));
end

function calls_functions(A, sigma, exact)
% Readers of columns and of rows, and products.
  part = @(B) @(first, count) B(first(1) + (0:count(1) - 1), first(2) + (0:count(2) - 1));
  columns = struct('read', part(A), 'size', size(A), 'dtype', 'double');
  [U, S, V] = purlin.rsvd(columns, 5, exact);
  check(norm(A * V - U * S) < 1e-10 && abs(diag(S)' - sigma(1:5)) < 1e-12, 'a reader of columns');
  rows = struct('read', part(A.'), 'size', size(A.'), 'dtype', 'double', 'order', 'rows');
  [U, S, V] = purlin.rsvd(rows, 5, exact);
  check(norm(A * V - U * S) < 1e-10 && size(U, 1) == size(A, 1), 'a reader of rows');
  twisted = struct('read', part(1i * A), 'size', size(A), 'dtype', 'double', 'complex', true);
  [U, S, V] = purlin.rsvd(twisted, 5, exact);
  check(~isreal(U) && norm(1i * A * V - U * S) < 1e-10, 'complex elements');
  described = @(read, name) struct('read', read, 'size', [30 8], 'dtype', name);
  for bad = {{@(first, count) 0.5 * ones(count), 'int32', 'does not hold'}, ...
             {@(first, count) 300 * ones(count), 'uint8', '300, which class uint8 does not hold'}, ...
             {@(first, count) 1e300 * ones(count), 'single', 'does not hold'}, ...
             {@(first, count) (2^24 + 1) * ones(count, 'int32'), 'single', '16777217, which class single'}, ...
             {@(first, count) intmax('int32') * ones(count, 'int32'), 'single', '2147483647, which class single'}, ...
             {@(first, count) intmax('int64') * ones(count, 'int64'), 'double', 'which class double does not hold'}, ...
             {@(first, count) ones(fliplr(count)), 'double', 'has returned a block of'}, ...
             {@(first, count) repmat('a', count), 'double', 'has returned char'}}
    check_error('purlin:invalidArgument', bad{1}{3}, @() purlin.rsvd(described(bad{1}{1}, bad{1}{2}), 2));
  end
  large = struct('read', @(first, count) zeros(count, 'single'), 'size', [2000 2000], 'dtype', 'single');
  quick = purlin.rsvd_plan(large, 300);
  slow = purlin.rsvd_plan(large, 300, 'read_rate', 1e6);
  check(~isequal(slow.method, quick.method) && slow.passes < quick.passes, 'a slow reader is read in fewer passes');
  check(abs(purlin.rsvd(described(@(first, count) 2 * ones(count), 'int16'), 1) - 2 * sqrt(240)) < 1e-3, 'whole numbers');
  check(abs(purlin.rsvd(described(@(first, count) 2^24 * ones(count, 'int32'), 'single'), 1) - 2^24 * sqrt(240)) < 1e3, ...
        'large integers that single holds');
  plain = purlin.rsvd(rmfield(columns, 'dtype'), 5, exact);
  check(isa(plain, 'double') && all(abs(plain' - sigma(1:5)) < 1e-12), 'a reader without a class delivers doubles');
  unsaid = struct('apply', @(X, adjoint) multiply(A, X, adjoint), 'size', size(A));
  plain = purlin.rsvd(unsaid, 5, exact);
  check(isa(plain, 'double') && all(abs(plain' - sigma(1:5)) < 1e-12), 'products without a class are double');
  check(isa(purlin.rsvd(setfield(unsaid, 'dtype', 'single'), 5, exact), 'single'), 'products in single on request');
  values = purlin.lanczos(struct('apply', @(X, adjoint) diag(1 + 1e-9 * (1:40)) * X, 'size', [40 40]), 1);
  check(isa(values, 'double') && abs(values - 1 - 40e-9) < 1e-12, 'eigenvalues of products without a class');
  products = struct('apply', @(X, adjoint) multiply(1i * A, X, adjoint), 'size', size(A), 'dtype', 'double', 'complex', true);
  [U, S, V] = purlin.rsvd(products, 5, exact);
  check(norm(1i * A * V - U * S) < 1e-10, 'products alone');
  check(purlin.rsvd_error(twisted, U, S, V) < 1.1, 'the error');
  symmetric = struct('apply', @(X, adjoint) diag(1:40) * X, 'size', [40 40], 'dtype', 'double');
  check(abs(purlin.lanczos(symmetric, 3) - [40; 39; 38]) < 1e-8, 'eigenvalues of products');
  model = purlin.PcaModel(3, exact);
  scores = fit_transform(model, columns);
  check(norm(scores - transform(model, columns)) < 1e-9, 'principal components');
  delete(model);
  [L, R] = purlin.rpca(columns);
  check(norm(L + R - A) < 1e-6, 'robust principal components');
  check_error('mine:stop', 'enough', @() purlin.rsvd(setfield(products, 'apply', @(X, adjoint) error('mine:stop', ...
              'enough')), 5));
  transposed = setfield(products, 'apply', @(X, adjoint) multiply_wrongly(1i * A, X, adjoint));
  check_error('purlin:invalidArgument', 'adjoint is not that of A', @() purlin.rsvd(transposed, 5, exact));
  check_error('purlin:invalidArgument', 'adjoint is not that of A', @() fit(purlin.PcaModel(3, exact), transposed));
  check_error('purlin:invalidArgument', 'complex', @() purlin.rsvd(setfield(twisted, 'complex', false), 5));
  check_error('purlin:invalidArgument', 'elements', @() purlin.rsvd(setfield(products, 'apply', @(X, adjoint) X), 5));
end

% The transpose for the adjoint.
function Y = multiply_wrongly(A, X, adjoint)
  if adjoint
    Y = A.' * X;
  else
    Y = A * X;
  end
end

function Y = multiply(A, X, adjoint)
  if adjoint
    Y = A' * X;
  else
    Y = A * X;
  end
end
