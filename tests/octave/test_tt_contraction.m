function test_tt_contraction()
% TEST_TT_CONTRACTION  Contractions and algebra of tensor trains against full arrays.
  purlin.configure('backend', 'cpu');
  before = purlin.live_handles();
  n = [2 3 2];
  x = random_ring(n, [3 2 4 3], false);
  y = random_ring(n, [3 4 2 3], true);
  [A, B] = deal(full_of(x), full_of(y));
  [v, info] = purlin.tt_inner(x, y);
  check(abs(v - A(:)' * B(:)) < 1e-12 * norm(A(:)) * norm(B(:)), 'inner product, real with complex');
  check(strcmp(info.outcome, 'ok') && info.flops > 0 && ~isempty(info.reason), 'report');
  s = purlin.tt_inner_scaled(x, y, 'scaling', 'always');
  check(abs(s.mantissa * 2 ^ s.exponent - v) < 1e-13 * abs(v) && abs(exp(s.log_abs) * s.phase - v) < 1e-12 * abs(v), 'scaled');
  check(abs(purlin.tt_norm(y) - norm(B(:))) < 1e-12 * norm(B(:)), 'norm');
  s = purlin.tt_norm_scaled(y);
  check(abs(s.log_abs - log(norm(B(:)))) < 1e-12, 'logarithm of the norm');
  check(abs(purlin.tt_distance(x, y) - norm(A(:) - B(:))) < 1e-11 * norm(B(:)), 'distance');
  check(isfield(purlin.tt_plan_inner(x, y, 'method', 'reduced'), 'workspace_bytes'), 'plan');
  G = purlin.tt_gram({x, y});
  check(abs(G(1, 2) - A(:)' * B(:)) < 1e-11 * norm(B(:)) ^ 2 && abs(G(2, 1) - conj(G(1, 2))) < 1e-11, 'Gram matrix');
  check(abs(purlin.tt_gram({x}, {y, x}) - [A(:)' * B(:), A(:)' * A(:)]) < 1e-11 * norm(B(:)) ^ 2, 'of two lists');
  train = purlin.TT(y);
  for other = {train, y{1}, 'x'}
    for call = {@purlin.tt_gram, @purlin.tt_gram_scaled, @purlin.tt_plan_gram}
      check_error('purlin:invalidArgument', 'y: ', @() call{1}({x, x}, other{1}));
    end
  end
  clear other;
  delete(train);
  check(isequal(purlin.tt_gram({x, y}, []), G), 'an empty y stands for x');
  check(abs(purlin.tt_inner_batch({x, y}, {y, y}) - G(:, 2)) < 1e-11 * norm(B(:)) ^ 2, 'batch');
  plans(x, y);
  big = repmat({1e30 * ones(1, 2)}, 1, 10);
  [v, info] = purlin.tt_inner(big, big);
  check(isinf(v) && strcmp(info.outcome, 'overflow'), 'overflow is a result');
  bad = x;
  bad{2}(2) = NaN;
  calls = {@() purlin.tt_inner_scaled(bad, y), @() purlin.tt_norm_scaled(bad), @() purlin.tt_distance_scaled(x, bad)};
  for k = 1:numel(calls)
    [s, info] = calls{k}();
    check(isnan(s.mantissa) && strcmp(info.outcome, 'nonfinite'), sprintf('a number that is not finite, call %d', k));
  end
  for call = {@() purlin.tt_inner(y, bad), @() purlin.tt_norm(bad), @() purlin.tt_distance(bad, x), ...
              @() purlin.tt_expect_local(bad, eye(n(1)), 1)}
    check_error('purlin:numerical', 'not finite', call{1});
  end
  check_error('purlin:invalidArgument', 'devices: has 1, the context in use is on the CPU: pairs', @() purlin.tt_inner({1}, {1}, 'devices', 0));
  check_error('purlin:invalidArgument', 'devices: has -1', @() purlin.TTContraction('devices', -1));
  check_error('purlin:cancelled', '', @() purlin.tt_inner(x, x, 'progress', @(step, steps, measure) true));
  check_error('purlin:invalidArgument', 'method', @() purlin.tt_inner(x, x, 'method', 'fast'));
  check_error('purlin:invalidArgument', 'mode size', @() purlin.tt_inner(x, {rand(1, 2), rand(1, 2), rand(1, 2)}));
  check_error('purlin:invalidArgument', 'cut: is 99, outside 1 to 3', @() purlin.tt_inner(x, x, 'cut', 99));
  % Options without effect are refused in calls of their own.
  check_error('purlin:invalidArgument', 'norm_method: is QR, an inner product does', @() purlin.tt_inner(x, x, 'norm_method', 'qr'));
  check_error('purlin:invalidArgument', 'conjugate: is NONE, a norm does', @() purlin.tt_norm(x, 'conjugate', 'none'));
  check_error('purlin:invalidArgument', 'method: is FULL, a distance by QR', @() purlin.tt_distance(x, y, 'method', 'full'));
  check_error('purlin:invalidArgument', 'norm_method: is set, a sandwich', ...
              @() purlin.tt_sandwich(x, purlin.tt_identity(n), x, 'norm_method', 'qr'));
  check_error('purlin:invalidArgument', 'conjugate: is set, a Rayleigh', ...
              @() purlin.tt_rayleigh(purlin.tt_identity(n), x, 'conjugate', 'none'));
  check_error('purlin:invalidArgument', 'kernel: is set, a distance', ...
              @() purlin.tt_distance_scaled(x, y, 'kernel', 'chain'));
  without_effect(x, y, n);
  check(isstruct(purlin.tt_norm_scaled(x, 'conjugate', 'bra', 'assume_hermitian', 0)), 'defaults are taken');
  check_error('purlin:invalidArgument', 'cut: belongs to rings', @() purlin.tt_inner(big, big, 'cut', 2));
  open_trains();
  operators();
  algebra(x, y, A, B);
  check(purlin.live_handles() == before, 'no handle is left');
end

function without_effect(x, y, n)
% Each call refuses options that it does not use, except with their default values.
  h = purlin.tt_identity(n);
  op = eye(2);
  z = random_ring([2 2], [2 2 2], false);
  lists = {'a Gram matrix', {@(varargin) purlin.tt_gram({x, y}, [], varargin{:}), ...
                             @(varargin) purlin.tt_gram_scaled({x}, {y}, varargin{:}), ...
                             @(varargin) purlin.tt_plan_gram({x}, {y}, varargin{:})}, {'norm_method', 'assume_hermitian'}
           'a batch', {@(varargin) purlin.tt_inner_batch({x}, {y}, varargin{:}), ...
                       @(varargin) purlin.tt_inner_batch_scaled({x}, {y}, varargin{:}), ...
                       @(varargin) purlin.tt_plan_batch({x}, {y}, varargin{:})}, {'norm_method', 'assume_hermitian'}
           'an inner product', {@(varargin) purlin.tt_plan_inner(x, y, varargin{:})}, {'norm_method', 'assume_hermitian'}
           'a norm', {@(varargin) purlin.tt_plan_norm(x, varargin{:})}, {'conjugate', 'assume_hermitian'}
           'a norm by QR factors', {@(varargin) purlin.tt_plan_norm(x, 'norm_method', 'qr', varargin{:}), ...
                                    @(varargin) purlin.tt_norm_scaled(x, 'norm_method', 'qr', varargin{:})}, ...
             {'method', 'kernel', 'block'}
           'a distance', {@(varargin) purlin.tt_plan_distance(x, y, varargin{:})}, ...
             {'norm_method', 'conjugate', 'assume_hermitian', 'method', 'kernel', 'block'}
           'a sandwich', {@(varargin) purlin.tt_plan_sandwich(y, h, x, varargin{:}), ...
                          @(varargin) purlin.tt_sandwich(y, h, x, varargin{:}), ...
                          @(varargin) purlin.tt_sandwich_scaled(y, h, x, varargin{:})}, {'norm_method', 'kernel'}
           'a Rayleigh quotient', {@(varargin) purlin.tt_plan_rayleigh(h, x, varargin{:}), ...
                                   @(varargin) purlin.tt_rayleigh(h, x, varargin{:})}, {'norm_method', 'conjugate', 'kernel'}
           'an expectation value', {@(varargin) purlin.tt_expect_local(z, op, [], varargin{:})}, ...
             {'norm_method', 'conjugate', 'assume_hermitian', 'method', 'kernel', 'block'}
           'a correlation', {@(varargin) purlin.tt_correlation(z, op, op, varargin{:})}, ...
             {'norm_method', 'conjugate', 'assume_hermitian', 'method', 'kernel', 'block'}};
  values = struct('norm_method', {{'auto', 'triangle'}}, 'conjugate', {{'bra', 'none'}}, 'assume_hermitian', {{false, true}}, ...
                  'method', {{'auto', 'full'}}, 'kernel', {{'auto', 'chain'}}, 'block', {{0, 1}});
  for k = 1:size(lists, 1)
    [of, calls, names] = lists{k, :};
    for call = calls
      for name = names
        value = values.(name{1});
        call{1}(name{1}, value{1});
        check_error('purlin:invalidArgument', [name{1} ': is set, ' of ' does not use it'], @() call{1}(name{1}, value{2}));
      end
    end
  end
end

function plans(x, y)
% Plans report the figures of the calls; contraction objects, exponents of lists, and a workspace that is too small.
  h = purlin.tt_identity([2 3 2]);
  same = @(p, q) strcmp(p.method, q.method) && strcmp(p.kernel, q.kernel) && p.flops == q.flops ...
                 && p.workspace_bytes == q.workspace_bytes && p.workspace_bytes > 0;
  [~, done] = purlin.tt_inner(x, y);
  check(same(purlin.tt_plan_inner(x, y), done), 'plan of an inner product');
  [~, done] = purlin.tt_norm(x, 'norm_method', 'qr');
  check(same(purlin.tt_plan_norm(x, 'norm_method', 'qr'), done), 'plan of a norm');
  [~, done] = purlin.tt_distance(x, y);
  check(same(purlin.tt_plan_distance(x, y), done), 'plan of a distance');
  [~, done] = purlin.tt_sandwich(y, h, x);
  check(same(purlin.tt_plan_sandwich(y, h, x), done), 'plan of a sandwich');
  [~, done] = purlin.tt_rayleigh(h, x);
  check(same(purlin.tt_plan_rayleigh(h, x), done), 'plan of a quotient');
  one = purlin.tt_plan_inner(x, y);
  info = purlin.tt_plan_batch({x, x}, {y, y});
  check(info.flops == 2 * one.flops, 'plan of a batch');
  info = purlin.tt_plan_gram({x, x}, {y});
  check(info.flops == 2 * one.flops, 'plan of a Gram matrix');
  info = purlin.tt_plan_gram({x, y});
  check(info.workspace_bytes > 0, 'of one list');

  c = purlin.TTContraction('scaling', 'always', 'method', 'reduced');
  check_error('purlin:invalidArgument', 'has no report yet', @() last_info(c));
  [v, info] = purlin.tt_inner(x, y, c);
  check(v == purlin.tt_inner(x, y, 'scaling', 'always', 'method', 'reduced') && strcmp(info.method, 'reduced') ...
        && info.scaled == 1, 'a kept contraction');
  last = last_info(c);
  check(isequal(last.method, info.method) && isequal(last.cut, info.cut) && last.flops == info.flops, 'last report');
  check(purlin.tt_norm(x, c) == purlin.tt_norm(x, 'scaling', 'always', 'method', 'reduced'), 'is used again');
  check(same(purlin.tt_plan_inner(x, y, c), info), 'and plans');
  check_error('purlin:invalidArgument', 'progress', @() purlin.TTContraction('progress', @(step, steps, measure) true));
  check_error('purlin:invalidArgument', 'there is no speed', @() purlin.TTContraction('speed', 1));
  delete(c);
  check_error('purlin:invalidHandle', 'contraction', @() purlin.tt_inner(x, y, c));

  G = purlin.tt_gram({x, y});
  s = purlin.tt_gram_scaled({x, y});
  check(isequal(s.mantissa .* 2 .^ s.exponent, G) && isequal(size(s.log_abs), [2 2]), 'exponents of a Gram matrix');
  s = purlin.tt_gram_scaled({x}, {y, x}, 'scaling', 'always');
  check(isequal(size(s.exponent), [1 2]), 'of two lists');
  huge = repmat({3}, 1, 700);
  s = purlin.tt_inner_batch_scaled({huge, huge}, {huge, huge});
  check(all(abs(s.log_abs - 1400 * log(3)) < 1e-10) && isequal(s.phase, [1; 1]) && all(s.exponent > 2000), 'of a batch');

  for call = {@(varargin) purlin.tt_inner(x, y, varargin{:}), @(varargin) purlin.tt_sandwich(y, h, x, varargin{:}), ...
              @(varargin) purlin.tt_plan_batch({x}, {y}, varargin{:}), @(varargin) purlin.tt_norm(x, varargin{:})}
    try
      call{1}('workspace_limit', 8);
      check(false, 'a workspace of 8 bytes is too small');
    catch e
      check(strcmp(e.identifier, 'purlin:invalidArgument'), e.message);
      needed = regexp(e.message, 'workspace_limit: is 8, at least (\d+) bytes are needed', 'tokens', 'once');
      check(numel(needed) == 1, e.message);
      call{1}('workspace_limit', str2double(needed{1}));
    end
  end
  delete(h);
end

function open_trains()
% `cut` and `block` of open trains are refused in every function of one call; a contraction object has them for rings.
  x = {rand(1, 2, 3), rand(3, 3, 2), rand(2, 2)};
  y = {rand(1, 2, 2), rand(2, 3, 4), rand(4, 2)};
  I = purlin.tt_identity([2 3 2]);
  ring = purlin.tt_random([2 3 2], [3 4 5 3], 'seed', 0);
  J = purlin.tt_identity([2 3 2]);
  calls = {@(x, y, I, varargin) purlin.tt_inner_scaled(x, y, varargin{:}), @(x, y, I, varargin) purlin.tt_norm_scaled(x, varargin{:}), ...
           @(x, y, I, varargin) purlin.tt_gram({x}, {y}, varargin{:}), @(x, y, I, varargin) purlin.tt_gram_scaled({x}, {y}, varargin{:}), ...
           @(x, y, I, varargin) purlin.tt_inner_batch({x}, {y}, varargin{:}), ...
           @(x, y, I, varargin) purlin.tt_inner_batch_scaled({x}, {y}, varargin{:}), ...
           @(x, y, I, varargin) purlin.tt_sandwich(x, I, y, varargin{:}), @(x, y, I, varargin) purlin.tt_sandwich_scaled(x, I, y, varargin{:}), ...
           @(x, y, I, varargin) purlin.tt_rayleigh(I, x, varargin{:}), ...
           @(x, y, I, varargin) purlin.tt_plan_inner(x, y, varargin{:}), ...
           @(x, y, I, varargin) purlin.tt_plan_norm(x, varargin{:}), @(x, y, I, varargin) purlin.tt_plan_gram({x}, {y}, varargin{:}), ...
           @(x, y, I, varargin) purlin.tt_plan_batch({x}, {y}, varargin{:}), ...
           @(x, y, I, varargin) purlin.tt_plan_sandwich(x, I, y, varargin{:}), @(x, y, I, varargin) purlin.tt_plan_rayleigh(I, x, varargin{:})};
  for k = 1:numel(calls)
    call = calls{k};
    check_error('purlin:invalidArgument', 'cut: belongs to rings, the trains are open', @() call(x, y, I, 'cut', 1));
    check_error('purlin:invalidArgument', 'block: is 2, open trains have one boundary pair', @() call(x, y, I, 'block', 2));
    call(ring, ring, J, 'cut', 1);
    call(x, y, I, 'block', 0);
  end
  same = {x{1}, rand(3, 2, 2), rand(2, 2)};
  for call = {@() purlin.tt_distance_scaled(x, y, 'cut', 1), @() purlin.tt_plan_distance(x, y, 'cut', 1), ...
              @() purlin.tt_expect_local(x, eye(2), 1, 'cut', 1), @() purlin.tt_correlation(same, eye(2), eye(2), 'cut', 1)}
    check_error('purlin:invalidArgument', 'cut: belongs to rings, the trains are open', call{1});
  end
  check_error('purlin:invalidArgument', 'norm_method: is TRIANGLE, which is for open trains', ...
              @() purlin.tt_norm_scaled(ring, 'norm_method', 'triangle'));
  check_error('purlin:invalidArgument', 'norm_method: is TRIANGLE, which is for open trains', ...
              @() purlin.tt_plan_norm(ring, 'norm_method', 'triangle'));
  check_error('purlin:invalidArgument', 'kernel: is set, a norm by QR', ...
              @() purlin.tt_norm_scaled(x, 'norm_method', 'qr', 'kernel', 'chain'));
  kept = purlin.TTContraction('cut', 1);
  check(isstruct(purlin.tt_inner_scaled(x, y, kept)), 'a kept contraction');
  delete(kept);
end

function operators()
  x = {rand(1, 2, 3), rand(3, 2, 2), rand(2, 2)};
  a = full_of(x);
  a = a(:);
  [X, Z, I] = deal([0 1; 1 0], [1 0; 0 -1], eye(2));
  % The first site runs fastest.
  at = @(p, q, r) kron(r, kron(q, p));
  H = -1.5 * (at(X, X, I) + at(I, X, X)) - 0.5 * (at(Z, I, I) + at(I, Z, I) + at(I, I, Z));
  h = purlin.tt_ising(3, 1.5, 0.5);
  t = purlin.tt_from_terms([2 2 2], {{-1.5, 1, X, 2, X}, {-1.5, 2, X, 3, X}, {-0.5, 1, Z}, {-0.5, 2, Z}, {-0.5, 3, Z}});
  % Sy is imaginary, its products are real: a real class holds them.
  [SX, SY, SZ] = deal(X / 2, [0 -1i; 1i 0] / 2, Z / 2);
  terms = {};
  for s = {SX, SY, SZ}
    terms = [terms, {{1, 1, s{1}, 2, s{1}}, {1, 2, s{1}, 3, s{1}}}];
  end
  spins = purlin.tt_from_terms([2 2 2], terms, 'complex', false);
  S = at(SX, SX, I) + at(I, SX, SX) + at(SY, SY, I) + at(I, SY, SY) + at(SZ, SZ, I) + at(I, SZ, SZ);
  e = a' * real(S) * a;
  check(abs(purlin.tt_sandwich(x, spins, x) - e) < 1e-12 * abs(e), 'spins in a real class');
  check_error('purlin:invalidArgument', 'dtype', @() purlin.tt_from_terms([2 2 2], {{1, 1, SY}}, 'complex', false));
  e = a' * H * a;
  check(abs(purlin.tt_sandwich(x, h, x) - e) < 1e-12 * abs(e), 'sandwich');
  check(abs(purlin.tt_sandwich(x, t, x) - e) < 1e-12 * abs(e), 'terms');
  [q, info, top, bottom] = purlin.tt_rayleigh(h, x);
  check(abs(q - e / (a' * a)) < 1e-12 && abs(top.mantissa * 2 ^ top.exponent - e) < 1e-12 * abs(e), 'Rayleigh quotient');
  check(abs(bottom.mantissa * 2 ^ bottom.exponent - a' * a) < 1e-12 && strcmp(info.outcome, 'ok'), 'and its parts');
  [m, info] = purlin.tt_expect_local(x, Z);
  check(info.flops > 0 && info.pairs >= 1 && strcmp(info.outcome, 'ok'), 'report of local values');
  check(abs(m(2) - a' * at(I, Z, I) * a / (a' * a)) < 1e-13 && numel(m) == 3, 'local values');
  [C, info] = purlin.tt_correlation(x, Z, X);
  check(info.flops > 0 && ~isempty(strfind(info.reason, 'both orders')), 'report of correlations');
  check(abs(C(1, 3) - a' * at(Z, I, X) * a / (a' * a)) < 1e-13, 'correlations');
  check(abs(purlin.tt_rayleigh(purlin.tt_identity([2 2 2]), x) - 1) < 1e-14, 'identity');
  s = describe(purlin.tt_heisenberg(4, [1 1 1], 0, 'cyclic', true));
  check(s.cyclic == 1 && isequal(s.rows, [2 2 2 2]), 'Heisenberg ring');
  v = purlin.TT(x);
  env = purlin.TTEnvironments(v, v, h);
  build(env, 'left', 3);
  [L, p] = get(env, 'left', 2);
  [R, r] = get(env, 'right', 2);
  check(abs(sum(L(:) .* R(:)) * 2 ^ (p + r) - e) < 1e-12 * abs(e), 'environments meet');
  [w, r] = apply(env, 2, x{2}, 1);
  check(abs(sum(x{2}(:) .* w(:)) * 2 ^ r - e) < 1e-12 * abs(e) && isequal(size(w), [3 2 2]), 'effective operator');
  check_error('purlin:invalidArgument', 'v: is [2 3 2]', @() apply(env, 2, permute(x{2}, [2 1 3])));
  check_error('purlin:invalidArgument', 'k: is 5, expected 1 to 4', @() apply(env, 5, 1));
  s = value(env, 4);
  check(abs(s.mantissa * 2 ^ s.exponent - e) < 1e-12 * abs(e), 'value');
  % A two-site step, which changes the rank between the sites.
  z = {x{1}, cos(reshape(1:24, [3 2 4])) * x{1}(1), sin(reshape(1:8, [4 2])) * x{1}(1)};
  w = purlin.TT(z);
  set_trains(env, w, w, 2, 3);
  s = value(env, 2);
  e = purlin.tt_sandwich(z, h, z);
  check(abs(s.mantissa * 2 ^ s.exponent - e) < 1e-12 * abs(e), 'other trains');
  delete(w);
  plain = purlin.TTEnvironments(v, v);
  s = local(plain, 2, Z);
  check(abs(s.mantissa * 2 ^ s.exponent - a' * at(I, Z, I) * a) < 1e-12, 'local value');
  delete(plain);
  delete(env);
  delete(v);
  last_sites();
  delete(t);
  delete(h);
end

function last_sites()
% At the end of a chain the sizes of a vector do not determine the number of its sites.
  x = purlin.tt_random([2 2 2 2], [1 2 4 2 1]);
  c = gather(x);
  h = purlin.tt_heisenberg(4);
  want = purlin.tt_sandwich(x, h, x);
  e = purlin.TTEnvironments(x, x, h);
  right = @(v, w, q) abs(sum(w(:) .* v(:)) * 2 ^ q - want) < 1e-12 * abs(want);
  for k = 1:4
    [w, q] = apply(e, k, c{k}, 1);
    check(right(c{k}, w, q) && isequal(size(w), size(c{k})), sprintf('one site, %d', k));
  end
  for k = 1:3
    if k < 3
      [w, q] = apply(e, k, c{k});
      check(right(c{k}, w, q), sprintf('its number is known, %d', k));
    end
    s = size(c{k}, 3);
    v = reshape(reshape(c{k}, [], s) * reshape(c{k + 1}, s, []), [size(c{k}, 1), 2, 2, size(c{k + 1}, 3)]);
    [w, q] = apply(e, k, v, 2);
    check(right(v, w, q) && isequal(size(w), size(v)), sprintf('two sites, %d', k));
  end
  check_error('purlin:invalidArgument', 'sites: is needed, for v, [2 2], fits 0 and 1 sites', @() apply(e, 4, c{4}));
  check_error('purlin:invalidArgument', 'v: is [2 2]', @() apply(e, 3, c{4}, 1));
  for k = 1:5
    check_error('purlin:invalidArgument', 'sites: is 3, expected 0 to 2', @() apply(e, k, c{1}, 3));
  end
  check_error('purlin:invalidArgument', 'k: is 4, expected 1 to 3', @() apply(e, 4, c{1}, 2));
  [w, ~] = apply(e, 4, c{4}, 0);
  check(isequal(size(w), [2 2]), 'the matrix of a bond');
  zero = purlin.tt_from_terms([2 2], {});
  check(purlin.tt_sandwich(purlin.tt_ones([2 2]), zero, purlin.tt_ones([2 2])) == 0, 'no terms');
  delete(zero);
  delete(e);
  delete(h);
  delete(x);
end

function algebra(x, y, A, B)
  near = @(P, Q) norm(P(:) - Q(:)) <= 1e-12 * norm(Q(:));
  check(near(purlin.tt_full(purlin.tt_add(x, y, 2, 1i)), 2 * A + 1i * B), 'add');
  check(near(purlin.tt_full(purlin.tt_scale(y, 3, 'exponent', 2)), 12 * B), 'scale');
  check(near(purlin.tt_full(purlin.tt_conj(y)), conj(B)), 'conj');
  check(near(purlin.tt_full(purlin.tt_hadamard(x, y)), A .* B), 'hadamard');
  [z, info] = purlin.tt_hadamard(purlin.tt_to_open(x), purlin.tt_to_open(y), 'epsilon', 1e-12);
  check(near(purlin.tt_full(z), A .* B) && info.error <= 1e-12 && max(describe(z).ranks) <= 2, 'hadamard, rounded');
  check(near(purlin.tt_full(purlin.tt_reverse(x)), permute(A, [3 2 1])), 'reverse');
  check(near(purlin.tt_full(purlin.tt_rotate(x, 2)), permute(A, [2 3 1])), 'rotate');
  check(near(purlin.tt_full(purlin.tt_to_open(x)), A), 'to_open');
  check(describe(purlin.tt_cast(x, 'single', true)).complex == 1, 'cast');
  check(near(purlin.tt_elements(x, [1 2; 3 1; 2 2]), [A(1, 3, 2); A(2, 1, 2)]), 'elements');
  check(near(purlin.tt_full(purlin.tt_apply(purlin.tt_identity([2 3 2]), x)), A), 'apply');
  [z, info] = purlin.tt_round(purlin.tt_to_open(x), 'epsilon', 1e-12);
  s = purlin.tt_svd(A, 'epsilon', 1e-12);
  check(isequal(describe(z).ranks, describe(s).ranks) && info.error <= 1e-12, 'round and svd');
  check(near(purlin.tt_full(purlin.tt_svd(reshape(A, 6, 2), 'modes', [2 3 2])), A), 'svd with other modes');
  [c, q] = purlin.tt_canonicalize(purlin.tt_to_open(x), 2);
  check(near(purlin.tt_full(c) * 2 ^ q, A), 'canonicalize');
  check(isequal(gather(purlin.tt_random([2 2], [1 2 1], 'seed', 3)), gather(purlin.tt_random([2 2], [1 2 1], 'seed', 3))), 'seed');
  check(isequal(purlin.tt_full(purlin.tt_ones([2 3])), ones(2, 3)), 'ones');
  check(isequal(purlin.tt_full(purlin.tt_zeros([2 3], 'dtype', 'single')), zeros(2, 3, 'single')), 'zeros');
  check(isequal(purlin.tt_full(purlin.tt_product_state({[1 2], [3 4 5]})), [1; 2] * [3 4 5]), 'product state');
  check_error('purlin:notSupported', '', @() purlin.tt_round(x));
  check_error('purlin:invalidArgument', 'absolute: is set without epsilon', ...
              @() purlin.tt_round(purlin.tt_to_open(x), 'absolute', true));
end

function cores = random_ring(n, r, is_complex)
  cores = cell(1, numel(n));
  for k = 1:numel(n)
    cores{k} = rand(r(k), n(k), r(k + 1));
    if is_complex
      cores{k} = complex(cores{k}, rand(r(k), n(k), r(k + 1)));
    end
  end
end

function A = full_of(cores)
% The tensor of three cores, entry by entry.
  n = cellfun(@(c) size(c, 2), cores);
  A = zeros(n);
  for i = 1:n(1)
    for j = 1:n(2)
      for k = 1:n(3)
        slice = @(c, i) reshape(c(:, i, :), size(c, 1), size(c, 3));
        A(i, j, k) = trace(slice(cores{1}, i) * slice(cores{2}, j) * slice(cores{3}, k));
      end
    end
  end
end
