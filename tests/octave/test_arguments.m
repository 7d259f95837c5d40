function test_arguments()
% TEST_ARGUMENTS  Lists, classes and shapes of arrays as arguments: right, or refused by name.
  lists();
  texts();
  counting();
  long_integers();
  classes();
  names_of_arguments();
end

function lists()
  g = struct('detector_columns', 16, 'detector_rows', 12, 'column_pitch', 3, 'row_pitch', 3, 'source_to_axis', 500, ...
             'source_to_detector', 1000, 'angles', (0:19) * pi / 10);
  f = purlin.Fdk(g);
  begin(f);
  check_error('purlin:invalidArgument', 'views: element 1 is 1.5', @() push(f, 1.5, zeros(16, 12)));
  check_error('purlin:invalidArgument', 'views: element 1 is 0', @() push(f, 0, zeros(16, 12)));
  push(f, 1, zeros(16, 12));
  delete(f);
  grid = struct('size', [4.5 4 4], 'spacing', [1 1 1], 'origin', [0 0 0]);
  check_error('purlin:invalidArgument', 'size: element 1 is 4.5', ...
              @() purlin.fdk_reconstruct(zeros(16, 12, 20), g, 'grid', grid));
  x = {reshape(1:6, 1, 2, 3), reshape(1:6, 3, 2)};
  check_error('purlin:invalidArgument', 'indices: element 1 is 1.5', @() purlin.tt_elements(x, [1.5; 1]));
  check_error('purlin:invalidArgument', 'indices: element 2 is nan', @() purlin.tt_elements(x, [1; NaN]));
  check_error('purlin:invalidArgument', 'is not a full array', @() purlin.tt_elements(x, sparse([1; 1])));
  check_error('purlin:invalidArgument', 'modes: element 1 is 2.5', @() purlin.tt_ones([2.5 2]));
  check_error('purlin:invalidArgument', 'sites: element 2 is 1.5', @() purlin.tt_expect_local(x, eye(2), [1 1.5]));
  A = magic(6);
  for bad = {NaN, -1, 1.5, 2^63}
    check_error('purlin:invalidArgument', 'expected true or false', @() purlin.rsvd(A, 2, 'one_pass', bad{1}));
    check_error('purlin:invalidArgument', 'expected true or false', @() purlin.rpca(A, 'warm_start', bad{1}));
  end
  large = intmax('uint64');
  check_error('purlin:invalidArgument', 'oversampling: is 18446744073709551615, expected -9223372036854775808 to 9223372036854775807', ...
              @() purlin.rsvd(A, 2, 'oversampling', large));
  check_error('purlin:invalidArgument', 'seed: is -3, expected 0 to 18446744073709551615', @() purlin.rsvd(A, 2, 'seed', int64(-3)));
  check_error('purlin:invalidArgument', 'seed: is -3, expected 0 to 18446744073709551615', @() purlin.rsvd(A, 2, 'seed', -3));
  check(numel(purlin.rsvd(A, 2, 'seed', large)) == 2, 'the largest seed');
  check_error('purlin:invalidArgument', 'method: is 3, expected one of auto, basic', @() purlin.rsvd(A, 2, 'method', 3));
  S = sparse(A + A');
  check_error('purlin:invalidArgument', 'dtype: is ''bogus'', expected', @() purlin.lanczos(S, 2, 'largest', 'dtype', 'bogus'));
  check_error('purlin:invalidArgument', 'dtype: is of class double', @() purlin.SpmvPlan(S, 'dtype', 1));
  check_error('purlin:invalidArgument', 'k: is -1, expected a whole number of at least 0', @() purlin.rsvd(A, -1));
  check_error('purlin:invalidArgument', 'k: is 0, expected a whole number of at least 1', @() purlin.PcaModel(0));
  check_error('purlin:invalidArgument', 'k: is 1.5, expected', @() purlin.PcaModel(1.5));
  check_error('purlin:invalidArgument', 'k: is NaN, expected', @() purlin.PcaModel(NaN));
  check_error('purlin:invalidArgument', 'k: has 2 elements, expected', @() purlin.PcaModel([1 2]));
  check_error('purlin:invalidArgument', 'k: is of class char, expected', @() purlin.PcaModel('a'));
  e = purlin.TTEnvironments(x, x);
  s = value(e, 1);
  full = purlin.tt_full(x);
  check(abs(s.mantissa * 2^s.exponent - sum(full(:).^2)) < 1e-9 * sum(full(:).^2), 'cells are kept as trains');
  set_trains(e, x, x, 1, 2);
  delete(e);
end

function texts()
% One rule for every option: a text is a row of characters that is not empty, and [] stands for the default.
  A = magic(6);
  T = spdiags([-ones(30, 1), 2 * ones(30, 1), -ones(30, 1)], -1:1, 30, 30);
  calls = {@(v) purlin.rsvd(A, 2, 'dtype', v), @(v) purlin.rsvd_plan(A, 2, 'dtype', v), @(v) purlin.rpca(A, 'dtype', v), ...
           @(v) purlin.pca(A, 2, 'dtype', v), @(v) purlin.SpmvPlan(T, 'dtype', v), @(v) purlin.spmv(T, ones(30, 1), 'dtype', v), ...
           @(v) purlin.lanczos(T, 2, 'largest', 'dtype', v), @(v) purlin.Matrix(T, 'dtype', v), ...
           @(v) purlin.tt_zeros([2 2], 'dtype', v), @(v) purlin.tt_random([2 2], [1 2 1], 'dtype', v), ...
           @(v) purlin.tt_ising(2, 1, 1, 'dtype', v), @(v) purlin.rsvd_sketch(4, 2, 'dtype', v)};
  for k = 1:numel(calls)
    call = calls{k};
    check_error('purlin:invalidArgument', 'dtype: is an empty char; [] stands for the default', @() call(''));
    check_error('purlin:invalidArgument', 'dtype: is an empty cell; [] stands for the default', @() call({}));
    check_error('purlin:invalidArgument', 'dtype: is an array of 2 x 6 characters, expected one row', @() call(['single'; 'double']));
    check_error('purlin:invalidArgument', 'dtype: is ''f4'', expected one of', @() call('f4'));
    made = call([]);
    check(~isempty(made), 'the default');
    if isobject(made)
      delete(made);
    end
  end
  state = @(v) purlin.rsvd(A, 2, 'method', 'range', 'restart_path', v);
  check_error('purlin:invalidArgument', 'restart_path: is an empty char; [] stands for the default', @() state(''));
  check_error('purlin:invalidArgument', 'restart_path: is an empty cell; [] stands for the default', @() state({}));
  check_error('purlin:invalidArgument', 'restart_path: is an array of 2 x 1 characters, expected one row', @() state(['a'; 'b']));
  check_error('purlin:invalidArgument', 'restart_path: is not the name of a file', @() state(5));
  check(numel(state([])) == 2, 'no file');
  check_error('purlin:invalidArgument', 'path: is an array of 2 x 1 characters', @() purlin.write_market(T, ['a'; 'b']));
  check_error('purlin:invalidArgument', 'kind: is an array of 2 x 1 characters', @() purlin.sshopm_starts(['a'; 'b'], 3, 5));
  check_error('purlin:invalidArgument', 'dtype: is ''f4'', expected one of', @() purlin.sshopm_starts('random', 3, 5, 0, 'f4'));
  described = struct('read', @(first, count) A, 'size', [6 6], 'dtype', '');
  check_error('purlin:invalidArgument', 'dtype: is an empty char', @() purlin.rsvd(described, 2));

  % Options may replace the word for the part of the spectrum.
  d = purlin.lanczos(T, 3, 'largest', 'dtype', 'single');
  check(isequal(purlin.lanczos(T, 3, 'dtype', 'single'), d), 'a pair in the place of which');
  check(isequal(purlin.lanczos(T, 3, struct('dtype', 'single')), d), 'a struct');
  check(numel(purlin.lanczos(T, 3, 'nearest', 'sigma', 1)) == 3, 'a word before a pair');
  check_error('purlin:invalidArgument', 'which: is ''largets'', expected one of', @() purlin.lanczos(T, 3, 'largets'));
  check_error('purlin:invalidArgument', 'there is no tolarance', @() purlin.lanczos(T, 3, 'tolarance', 1e-3));
  check_error('purlin:invalidArgument', 'which: is ''LA''; it is ''largest'' here', @() purlin.lanczos(T, 3, 'LA'));
  check(numel(purlin.lanczos_singular(T, 2, 'tolerance', 1e-6)) == 2, 'singular values');

  % Earlier names.
  check_error('purlin:invalidArgument', 'there is no restart; it is restart_path here', @() purlin.rsvd(A, 2, 'restart', 'x'));
  check_error('purlin:invalidArgument', 'there is no class; it is dtype here', @() purlin.rpca(A, 'class', 'single'));
  check_error('purlin:invalidArgument', 'there is no precision; it is dtype here', @() purlin.lanczos(T, 2, 'largest', 'precision', 'single'));
  check_error('purlin:invalidArgument', 'there is no norm_way; it is norm_method here', @() purlin.tt_norm({1}, 'norm_way', 'qr'));
  check_error('purlin:invalidArgument', 'there is no restart; known are', @() purlin.rpca(A, 'restart', 'x'));
end

function classes()
  A = [4 1 0; 1 3 1; 0 1 2];
  reference = sort(eig(A), 'descend');
  near = @(v) all(abs(double(v(:)) - reference(1:2)) < 1e-5);
  check(near(purlin.lanczos(sparse(A), 2)), 'sparse');
  forms = {A, single(A), complex(A), sparse(complex(A)), logical(eye(3))};
  names = {'full', 'single', 'complex', 'complex sparse', 'logical'};
  for k = 1:numel(forms)
    try
      v = purlin.lanczos(forms{k}, 2);
      if k == 5
        check(all(abs(double(v) - 1) < 1e-6), names{k});
      else
        check(near(v), names{k});
      end
    catch e
      check(strncmp(e.identifier, 'purlin:', 7), [names{k} ': ' e.message]);
    end
  end
  for name = {'double', 'single', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'logical'}
    B = cast(ones(3, 2), name{1});
    try
      s = purlin.rsvd(B, 1);
      check(abs(double(s) - sqrt(6)) < 1e-5, ['rsvd of ' name{1}]);
    catch e
      check(strncmp(e.identifier, 'purlin:', 7), ['rsvd of ' name{1} ': ' e.message]);
    end
  end
  refused = {'text', {1}, struct('a', 1), zeros(2, 2, 2), @sin};
  for k = 1:numel(refused)
    check_error_of_package(@() purlin.rsvd(refused{k}, 1), class(refused{k}));
    check_error_of_package(@() purlin.lanczos(refused{k}, 1), class(refused{k}));
    check_error_of_package(@() purlin.spmv(eye(2), refused{k}), class(refused{k}));
    check_error_of_package(@() purlin.sshopm_solve(4, 3, refused{k}), class(refused{k}));
  end
  B = sparse(A);
  B(2, 3) = NaN;
  B(3, 2) = NaN;
  check_error('purlin:invalidArgument', 'NaN', @() purlin.lanczos(B, 1));
  check_error_of_package(@() purlin.lanczos(ones(2, 1, 2), 1), 'pages');
  check(abs(purlin.lanczos(sparse(7), 1) - 7) < 1e-12, 'one by one');
  check_error_of_package(@() purlin.lanczos(sparse(0, 0), 1), 'nothing');
end

function counting()
% Indices in messages of the library count from 1, and other numbers stay.
  x = {rand(1, 2, 3), rand(3, 2)};
  e = purlin.TTEnvironments(x, x);
  check_error('purlin:invalidArgument', 'k: is 3, outside 1 to 2', @() update_core(e, 3));
  check_error('purlin:invalidArgument', 'bond: is 4, outside 1 to 3', @() value(e, 4));
  check_error('purlin:invalidArgument', 'sites: element 1 is 5, outside 1 to 2', @() purlin.tt_expect_local(x, eye(2), 5));
  check_error('purlin:invalidArgument', 'first: is 3, outside 1 to 2', @() purlin.tt_rotate(x, 3));
  check_error('purlin:invalidArgument', 'centre: is 9, outside 1 to 2', @() purlin.tt_canonicalize(x, 9));
  Z = [1 0; 0 -1];
  check_error('purlin:invalidArgument', 'sites: element 2 is 0, outside 1 to 3', ...
              @() purlin.tt_from_terms([2 2 2], {{1, 1, Z, 0, Z}}));
  check_error('purlin:invalidArgument', 'sites: element 3 is 4, outside 1 to 3', ...
              @() purlin.tt_from_terms([2 2 2], {{1, 1, Z, 2, Z}, {1, 4, Z}}));
  check_error('purlin:invalidArgument', 'first, last: are 2 and 1, not in order from 1 to 2', ...
              @() set_trains(e, purlin.TT(x), purlin.TT(x), 2, 1));
  g = struct('detector_columns', 16, 'detector_rows', 12, 'column_pitch', 3, 'row_pitch', 3, 'source_to_axis', 500, ...
             'source_to_detector', 1000, 'angles', (0:19) * pi / 10);
  f = purlin.Fdk(g);
  begin(f);
  check_error('purlin:invalidArgument', 'views: element 2 is 21, outside 1 to 20', @() push(f, [1 21], zeros(16, 12, 2)));
  push(f, 3, zeros(16, 12));
  check_error('purlin:invalidArgument', 'views: element 1 is 3, which was pushed before', @() push(f, 3, zeros(16, 12)));
  check_error('purlin:invalidArgument', 'views: name view 5 twice', @() push(f, [5 5], zeros(16, 12, 2)));
  delete(f);
  check_error('purlin:invalidArgument', 'modes: element 2 is 0, expected at least 1', @() purlin.tt_ones([2 0]));
  check_error('purlin:invalidArgument', 'indices: tuple 2: element 1 is 2, outside 1 to 1', @() purlin.tt_elements(purlin.tt_ones([1 3]), [1 2; 3 1]));
  check_error('purlin:invalidArgument', 'core 2 has mode size 3, that of x is 2', @() purlin.tt_inner(x, {rand(1, 2, 3), rand(3, 3)}));
  r = {rand(2, 2, 3), rand(3, 2, 2)};
  reasons = purlin.tt_plan_inner(r, r, 'cut', 2);
  at = regexp(reasons.reason, 'at bond (\d+)', 'tokens');
  check(reasons.cut == 2 && (isempty(at) || str2double(at{1}{1}) == 2), 'a bond in a reason');
  A = eye(3);
  A(2, 3) = NaN;
  A(3, 2) = NaN;
  check_error('purlin:invalidArgument', 'has NaN in row 2, column 3', @() purlin.lanczos(sparse(A), 1));
  try
    purlin.lanczos(eye(3), 1, 'tolerance', 2);
  catch caught
    check(isempty(strfind(caught.message, 'counted')), caught.message);
  end
end

function names_of_arguments()
% The library's messages have the names that the functions' help shows.
  A = magic(4);
  A(3, 2) = NaN;
  check_error('purlin:invalidArgument', 'A: has NaN in row 3, column 2', @() purlin.rsvd(A, 2));
  check_error('purlin:invalidArgument', 'X: has NaN in row 3, column 2', @() purlin.pca(A, 2));
  check_error('purlin:invalidArgument', 'M: has NaN in row 3, column 2', @() purlin.rpca(A));
  check_error('purlin:invalidArgument', 'A: its first extent is 14, expected 15', @() purlin.sshopm_solve(rand(14, 1), 4, 3));
end

function long_integers()
  A = rand(15, 1);
  check_error('purlin:invalidArgument', '2^53', @() purlin.sshopm_solve(A, 4, 3, 'start_kind', 'random', 'seed', 2^60));
  check_error('purlin:invalidArgument', 'whole', @() purlin.sshopm_solve(A, 4, 3, 'start_kind', 'random', 'seed', 0.5));
  check_error('purlin:invalidArgument', 'seed: is -1', @() purlin.sshopm_starts('random', 3, 4, int64(-1)));
  large = purlin.sshopm_starts('random', 3, 4, bitshift(int64(1), 62));
  check(isequal(large, purlin.sshopm_starts('random', 3, 4, bitshift(uint64(1), 62))), 'int64 and uint64');
  check(~isequal(large, purlin.sshopm_starts('random', 3, 4, bitshift(int64(1), 62) + int64(1))), 'the last bit');
  r = purlin.sshopm_solve(A, 4, 3, 'start_kind', 'random', 'seed', intmax('uint64'));
  check(r.count >= 1, 'the largest seed');
  check_error('purlin:invalidArgument', 'seed: is 7, but', @() purlin.sshopm_solve(A, 4, 3, 'seed', 7));
  check_error('purlin:invalidArgument', 'seed: is 7, but', @() purlin.sshopm_starts('hemisphere', 3, 4, 7));
  check_error('purlin:invalidArgument', 'pairs: is 0, at least 1', @() purlin.sshopm_solve(A, 4, 3, 'pairs', 0));
  check_error('purlin:invalidArgument', 'pairs: is 0, at least 1', @() purlin.sshopm_solve_all(A, 4, 3, 'pairs', 0));
end

function check_error_of_package(action, what)
% Errors of the gateway and of validateattributes name the fault; any other error is a bug.
  try
    action();
  catch e
    good = strncmp(e.identifier, 'purlin:', 7) || ~isempty(strfind(e.identifier, 'expected'));
    check(good, sprintf('%s: %s (%s)', what, e.message, e.identifier));
    return;
  end
  error('test:failed', 'failed: no error for %s', what);
end
