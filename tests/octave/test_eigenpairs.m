function test_eigenpairs(golden)
% TEST_EIGENPAIRS  The published tables, complete and by maxima and minima, in both precisions.
  c = purlin.codes();
  class_of = [c.PAIR_POSITIVE_STABLE, c.PAIR_UNSTABLE, c.PAIR_NEGATIVE_STABLE];
  for m = [4 3]
    stem = fullfile(golden, 'sshopm', sprintf('published_%d_3', m));
    A = load([stem, '_tensor.txt'], '-ascii')';
    pairs = load([stem, '_pairs.txt'], '-ascii');
    n = size(pairs, 1);
    before = A;
    r = purlin.sshopm_solve_all(A, m, 3, 'pairs', n + 5);
    check(isequal(A, before), 'the input is not written');
    check(r.count == n && r.status == c.TENSOR_OK, 'as many pairs as published');
    check(r.morse_sum == 1 && r.morse_expected == 1, 'a complete set');
    check(abs(r.values(1:n) - pairs(:, 1)) < 1e-9, 'lambda as published');
    check(isnan(r.values(n + 1:end)), 'NaN where there is no pair');
    check(r.classes(n + 1:end) == c.PAIR_NONE, 'and no class');
    check(r.found == n && r.info.truncated_tensors == 0, 'none without a place');
    check(isequal(size(r.vectors), [3, n + 5]), 'a vector a pair');
    for k = 1:n
      side = sign(pairs(k, 2:4) * r.vectors(:, k));
      check(m == 4 || side == 1, 'the sign that makes lambda positive');
      check(abs(side * r.vectors(:, k) - pairs(k, 2:4)') < 1e-8, 'x as published');
      check(abs(r.hessian(:, k) - pairs(k, 5:6)') < 1e-7, 'the projected Hessian as published');
      check(r.classes(k) == class_of(pairs(k, 7) + 1), 'the class as published');
    end
    check(r.residuals(1:n) < 1e-13, 'small residuals');
    check(r.basins(1:n) > 0, 'some start has found each');
    again = purlin.sshopm_classify(A, m, 3, r.values(1:n), r.vectors(:, 1:n));
    check(isequal(again.classes, r.classes(1:n)), 'classify agrees');
    check(abs(again.hessian - r.hessian(:, 1:n)) < 1e-12, 'with the same Hessian');
    check(again.residuals < 1e-13, 'and small residuals');
  end

  stem = fullfile(golden, 'sshopm', 'published_4_3');
  A = load([stem, '_tensor.txt'], '-ascii')';
  pairs = load([stem, '_pairs.txt'], '-ascii');
  for method = {'hybrid', 'power'}
    r = purlin.sshopm_solve(A, 4, 3, 'method', method{1}, 'tolerance', 1e-13);
    check(r.count == 3, 'three maxima');
    check(abs(r.values(1:3) - pairs([1 2 4], 1)) < 1e-9, 'the published ones');
    check(r.classes(1:3) == c.PAIR_NEGATIVE_STABLE, 'all of them maxima');
    r = purlin.sshopm_solve(A, 4, 3, 'method', method{1}, 'goal', 'minima', 'tolerance', 1e-13);
    check(r.count == 3, 'three minima');
    check(abs(r.values(1:3) - pairs([11 10 9], 1)) < 1e-9, 'the published ones, ascending');
    check(r.residuals(1:3) < 1e-12, 'with small residuals');
    r = purlin.sshopm_solve(A, 4, 3, 'method', method{1}, 'goal', 'both');
    check(r.count == 6 && all(abs(r.values(1:6) - pairs([1 2 4 11 10 9], 1)) < 1e-9), 'both');
  end
  r = purlin.sshopm_solve_all(A, 4, 3, 'pairs', 4);
  check(r.count == 4 && r.found == 11 && r.info.truncated_tensors == 1, 'pairs without a place are counted');
  r = purlin.sshopm_solve(A, 4, 3, 'method', 'power');
  check(r.info.unconverged_tensors == 0 && r.info.truncated_tensors == 0, 'all starts have converged');
  state = warning('off', 'purlin:noConvergence');
  r = purlin.sshopm_solve(A, 4, 3, 'method', 'power', 'max_iterations', 1);
  warning(state);
  check(r.info.unconverged_tensors == 1, 'starts that did not converge are counted');
  check_error('purlin:invalidArgument', 'sshopm_solve_all: has 2', @() purlin.sshopm_solve_all(A, 4));
  % The names of the Python package.
  r = purlin.sshopm_solve(A, 4, 3, 'shift_kind', 'fixed', 'shift', 2, 'method', 'power', 'start_kind', ...
                          'fibonacci_hemisphere', 'starts', 40, 'full', true);
  check(size(r.start_values, 1) == 40 && all(abs(r.start_shifts - 2) < 1e-12), 'a fixed shift from forty starts');
  info = purlin.sshopm_plan(repmat(A(:), 1, 4), 4, 3, 'starts', 40);
  check(info.tensors == 4 && info.starts == 40 && info.host_bytes > 0 && ~isempty(info.reason), 'a plan');
  check(info.iterations == 0 && info.converged_starts == 0, 'nothing is solved');
  check_error('purlin:invalidArgument', 'goal', @() purlin.sshopm_plan(A, 4, 3, 'goal', 'largest'));
  % Odd order: maxima are maxima, minima minima, and both lists each pair once.
  B = load(fullfile(golden, 'sshopm', 'published_3_3_tensor.txt'), '-ascii')';
  up = purlin.sshopm_solve(B, 3, 3);
  down = purlin.sshopm_solve(B, 3, 3, 'goal', 'minima');
  check(up.count == 4 && all(up.classes(1:4) == c.PAIR_NEGATIVE_STABLE), 'maxima');
  check(down.count == 4 && all(down.classes(1:4) == c.PAIR_POSITIVE_STABLE), 'minima');
  check(abs(up.values(1:4) + down.values(1:4)) < 1e-9, 'the same pairs turned over');
  r = purlin.sshopm_solve(B, 3, 3, 'goal', 'both');
  check(r.count == 4 && all(r.values(1:4) > 0), 'each once');
  % (x^2 + y^2)^2 + (x^2 + y^2) z^2 / 2: a circle of maxima.
  F = zeros(15, 1);
  F([1 4 11]) = [1, 1 / 3, 1];
  F([6 13]) = 1 / 12;
  r = purlin.sshopm_solve_all(F, 4, 3);
  check(r.count == 2 && r.status == c.TENSOR_DEGENERATE && abs(r.values(1) - 1) < 1e-9, 'one entry for the circle');
  many_pairs();
  r = purlin.sshopm_solve(single(A), 4, 3, 'pairs', 3);
  check(isa(r.values, 'single') && all(abs(r.values - single(pairs([1 2 4], 1))) < 1e-5), 'single precision');
end

% Without 'pairs' all are listed, with a second search where the memory of the first was too little.
function many_pairs()
  % Order 8: as many places as a generic tensor has pairs, 57.
  A = sin((1:45)' .^ 2);
  r = purlin.sshopm_solve_all(A, 8, 3);
  check(size(r.values, 1) == 57 && r.count == r.found && r.count > 3, 'all pairs of order 8');
  check(r.info.truncated_tensors == 0 && all(r.residuals(1:r.count) < 1e-8), 'none is left out');
  cut = purlin.sshopm_solve_all(A, 8, 3, 'pairs', 3);
  check(cut.count == 3 && cut.found == r.found && all(cut.values == r.values(1:3)), 'three places hold the first three');
  % x_1^4 + .. + x_7^4 has 1093 pairs: vectors of k entries 1 / sqrt(k) up to their signs, with lambda = 1 / k. The first
  % search has 512 places.
  A = [];
  for a = 1:7
    for b = a:7
      for c = b:7
        A = [A; (a == b) * (b == c) * (c == (c:7)')];
      end
    end
  end
  options = {'starts', 2000, 'max_starts', 2000};
  r = purlin.sshopm_solve_all(A, 4, 7, options{:});
  check(r.found > 512 && r.found <= 1093 && r.count == r.found, 'more pairs than the first search had places for');
  check(size(r.values, 1) == r.found && r.info.truncated_tensors == 0, 'a place for each');
  k = round(1 ./ r.values);
  check(k >= 1 & k <= 7 & abs(k .* r.values - 1) < 1e-9, 'lambda in closed form');
  check(sum(abs(r.vectors) > 1e-6)' == k, 'vectors of k entries');
  some = purlin.sshopm_solve_all(A, 4, 7, 'pairs', 1093, options{:});
  check(some.found == r.found && all(some.values(1:some.found) == r.values), 'the same as with a place for all');
end
