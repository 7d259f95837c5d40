function test_options(golden)
% TEST_OPTIONS  Batches, starts, iteration counts, callbacks and refusals of the solvers.
  c = purlin.codes();
  A = load(fullfile(golden, 'sshopm', 'published_4_3_tensor.txt'), '-ascii')';
  top = [0.889322010679401; 0.8168813449836233; 0.36330604843843806];

  batch = repmat(A, [1, 2, 3]);
  batch(7, 2, 1) = NaN;
  batch(:, 1, 2) = 0;
  r = purlin.sshopm_solve(batch, 4, 3, 'pairs', 3);
  check(isequal(size(r.values), [3 2 3]) && isequal(size(r.vectors), [3 3 2 3]), 'results are shaped like the batch');
  check(isequal(size(r.count), [2 3]), 'and so are numbers of one a tensor');
  check(r.status(2, 1) == c.TENSOR_NONFINITE && r.status(1, 2) == c.TENSOR_ZERO, 'a bad tensor has its status');
  check(r.count(2, 1) == 0 & r.count(:, 3) == 3, 'and no pairs');
  check(abs(r.values(:, 2, 3) - top) < 1e-9, 'the others are unharmed');

  t = purlin.Tensor(batch(:, :), 'order', 4, 'dimension', 3);
  s = purlin.sshopm_solve(t, 4, 3, 'pairs', 3);
  check(isequal(s.values(:, 6), r.values(:, 2, 3)), 'an object takes the place of the array');
  check_error('purlin:invalidArgument', 'order', @() purlin.sshopm_solve(t, 3, 3));
  delete(t);

  x = [1; 0.5; -0.3];
  r = purlin.sshopm_solve(A, 4, 3, 'starts', x, 'method', 'power', 'compatibility', 'tensor_toolbox', 'shift', 2, ...
                          'full', true, 'trace', 100);
  check(r.start_iterations == 46, 'the 46 iterations of Tensor Toolbox with shift 2');
  check(abs(r.start_values - top(1)) < 1e-9, 'to the largest eigenvalue');
  check(diff(r.trace(1:46)) > -1e-14, 'which rises all the way');
  r = purlin.sshopm_solve(A, 4, 3, 'starts', x, 'method', 'power', 'compatibility', 'tensor_toolbox', 'full', true);
  check(r.start_iterations == 23, 'its 23 with the adaptive shift');

  r = purlin.sshopm_solve(A, 4, 3, 'starts', 'random', 'start_count', 40, 'seed', 7, 'full', true);
  check(isequal(size(r.start_vectors), [3 40]) && all(r.start_status == c.START_CONVERGED), 'random starts');
  again = purlin.sshopm_solve(A, 4, 3, 'starts', 'random', 'start_count', 40, 'seed', uint64(7), 'full', true);
  check(isequal(r.start_values, again.start_values), 'a seed repeats');
  r = purlin.sshopm_solve(A, 4, 3, struct('starts', 10, 'full', true, 'goal', 'minima'));
  check(numel(r.start_values) == 10 & r.start_values < 0, 'options in a struct');

  x = purlin.sshopm_starts('hemisphere', 3, 50);
  check(abs(sqrt(sum(x .^ 2, 1)) - 1) < 1e-14 & x(3, :) >= 0, 'a hemisphere');
  check(abs(x(3, 1) - 0.99) < 1e-14, 'from the pole');
  check(isa(purlin.sshopm_starts('random', 5, 4, 1, 'single'), 'single'), 'single precision');
  check(~isequal(purlin.sshopm_starts('random', 5, 4, 1), purlin.sshopm_starts('random', 5, 4, 2)), 'a seed counts');

  many = repmat(A, 1, 200);
  calls = purlin_test_counter();
  purlin.sshopm_solve(many, 4, 3, 'progress', @(step, steps, measure) purlin_test_counter(step <= steps));
  check(purlin_test_counter() > calls, 'progress is reported');
  check_error('purlin:cancelled', '', @() purlin.sshopm_solve(many, 4, 3, 'progress', @(a, b, m) true));
  failing = @(step, steps, measure) error('my:own', 'stop it');
  check_error('my:own', 'stop it', @() purlin.sshopm_solve(many, 4, 3, 'progress', failing));
  check_error('purlin:invalidArgument', 'progress', @() purlin.sshopm_solve(A, 4, 3, 'progress', 5));
  % A progress function without a result, or with one that is neither true nor false.
  nothing = @(step, steps, measure) purlin_test_nothing();
  check_error('purlin:invalidArgument', 'progress: returns nothing, true to cancel or false to go on is needed', ...
              @() purlin.sshopm_solve(many, 4, 3, 'progress', nothing));
  check_error('purlin:invalidArgument', 'progress: has returned a char', ...
              @() purlin.sshopm_solve(many, 4, 3, 'progress', @(step, steps, measure) 'no'));
  before = purlin.live_handles();
  r = purlin.sshopm_solve(A, 4, 3);
  check(abs(r.values(1:3) - top) < 1e-9 & before == 1, 'the next call works and nothing was left');

  check_error('purlin:invalidArgument', 'there is no gaol', @() purlin.sshopm_solve(A, 4, 3, 'gaol', 'maxima'));
  check_error('purlin:invalidArgument', 'goal', @() purlin.sshopm_solve(A, 4, 3, 'goal', 'largest'));
  check_error('purlin:invalidArgument', 'expected 15', @() purlin.sshopm_solve(A(1:14), 4, 3));
  check_error('purlin:invalidArgument', 'starts', @() purlin.sshopm_solve(A, 4, 3, 'starts', ones(2, 5)));
  check_error('purlin:invalidArgument', '', @() purlin.sshopm_solve(A, 4, 3, 'starts', zeros(3, 1)));
  check_error('purlin:invalidArgument', 'full', @() purlin.sshopm_solve(A, 4, 3, 'full', true));
  check_error('purlin:invalidArgument', 'shift', ...
              @() purlin.sshopm_solve(A, 4, 3, 'method', 'power', 'shift', -1));
  check_error('purlin:invalidArgument', 'starts', @() purlin.sshopm_solve(A, 4, 3, 'starts', single([1; 0; 0])));
  check_error('purlin:invalidArgument', 'A', @() purlin.sshopm_solve('text', 4, 3));
  check_error('purlin:invalidArgument', 'kind', @() purlin.sshopm_starts('moon', 3, 5));
end
