function test_pca()
% TEST_PCA  Principal components of data whose factors are known, far from the origin.
  purlin.configure('backend', 'cpu');
  sigma = 0.6 .^ (0:29);
  A = cosines(120, 30) * diag(sigma) * cosines(70, 30)';
  exact = struct('power_iterations', 6);
  X = A + 100;
  [coeff, score, latent, explained, mu] = purlin.pca(X, 4, exact);
  check(abs(sqrt(latent' * (size(A, 1) - 1)) - sigma(1:4)) < 1e-10 && abs(mu - 100) < 1e-11, 'centred');
  check(norm(coeff' * coeff - eye(4)) < 1e-12 && norm((X - mu) * coeff - score) < 1e-10, 'scores');
  check(abs(explained(1) - 100 * sigma(1) ^ 2 / sum(sigma .^ 2)) < 1e-6, 'percent of the variance');
  p = purlin.PcaModel(4, 'power_iterations', 6, 'samples', 'columns');
  plan = purlin.pca_plan(X', 4, 'power_iterations', 6, 'samples', 'columns', 'with_scores', true);
  scores = fit_transform(p, X');
  check(strcmp(plan.method, p.info.method) && plan.passes == p.info.passes && ~isempty(plan.reason), 'a plan');
  check(isequal(fieldnames(plan), fieldnames(p.info)) && plan.host_bytes == p.info.host_bytes, 'the whole plan');
  plan = purlin.pca_plan(X, 4, 'method', 'fused');
  with = purlin.pca_plan(X, 4, 'method', 'fused', 'with_scores', true);
  check(with.passes == plan.passes + 1, 'the pass of the scores');
  check_error('purlin:invalidArgument', 'scale: is set without center', ...
              @() purlin.pca_plan(X, 4, 'scale', true, 'center', false));
  check_error('purlin:invalidArgument', 'with_scores', @() purlin.pca_plan(X, 4, 'with_scores', 2));
  check(isequal(size(scores), [4 size(A, 1)]), 'samples as columns');
  check(p.count == size(A, 1) && p.features == size(A, 2), 'and their number');
  check(norm(transform(p, X') - scores) < 1e-10 && norm(inverse_transform(p, scores) - X') < 2 * sigma(5), 'and back');
  check(abs(p.explained_variance_ratio(1) * p.total_variance - p.explained_variance(1)) < 1e-12, 'variances');
  fit(p, X');
  delete(p);
  check_error('purlin:invalidArgument', 'sign: is U_MAX for principal components', @() purlin.pca(X, 4, 'sign', 'u_max'));
  % Differences from the mean that overflow where the scores do not, and scores that do.
  for t = {realmax, realmax('single')}
    X = 0.9 * [t{1} -t{1} t{1} / 1.5 t{1} t{1}]';
    p = purlin.PcaModel(1, 'scale', true);
    scores = fit_transform(p, X);
    check(abs(transform(p, X) - scores) < 1e-5, 'scores of the samples of a fit');
    check(abs(inverse_transform(p, scores) ./ X - 1) < 1e-5, 'and back');
    delete(p);
  end
  % A constant feature contributes nothing, far from the origin or not.
  X = A(:, 1:4);
  X(:, 2) = 1.7e18;
  p = purlin.PcaModel(3, 'scale', true, 'whiten', true);
  scores = fit_transform(p, X);
  check(isequal(p.constant, [0 1 0 0]') && p.rounding < 1e-11, 'a constant feature is named');
  check(norm(std(scores) - 1) < 1e-10 && norm(transform(p, X) - scores) < 1e-10, 'and contributes nothing');
  back = inverse_transform(p, scores);
  check(back(:, 2) == 1.7e18, 'and has its mean');
  delete(p);
  p = purlin.PcaModel(2, 'dtype', 'single');
  fit(p, A);
  check_error('purlin:numerical', 'scores: component 1 of sample ', @() transform(p, 1e40 * A));
  delete(p);
  check_error('purlin:numerical', 's: number 1 is', @() purlin.rsvd(1e-300 * A, 2, 'dtype', 'single'));
end

function Q = cosines(n, k)
% K orthonormal vectors of length N, all of mean 0.
  Q = sqrt(2 / n) * cos(pi * ((0:n - 1)' + 0.5) * (1:k) / n);
end
