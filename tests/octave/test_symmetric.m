function test_symmetric()
% TEST_SYMMETRIC  Tables against counting, conversions against the full tensor.
  check(purlin.symmetric_count(4, 3) == 15 && purlin.symmetric_count(6, 10) == 5005, 'counts');
  indices = purlin.symmetric_indices(4, 3);
  check(isequal(size(indices), [4, 15]), 'a tuple an entry');
  check(isequal(indices(:, [1 8 15])', [1 1 1 1; 1 2 2 3; 3 3 3 3]), 'from 1111 to 3333');
  exponents = purlin.symmetric_exponents(4, 3);
  for i = 1:3
    check(isequal(exponents(i, :), sum(indices == i, 1)), 'exponents count the indices');
  end
  check(isequal(purlin.symmetric_multinomials(3, 2), [1 3 3 1]), 'multinomials');
  check(sum(purlin.symmetric_multinomials(4, 3)) == 81, 'all entries of the full tensor');

  packed = sin(reshape(1:30, 15, 2));
  full_tensors = purlin.symmetric_to_full(packed, 4, 3);
  check(isequal(size(full_tensors), [3 3 3 3 2]), 'full tensors');
  for r = 1:15
    k = num2cell(indices(:, r));
    check(full_tensors(k{:}, 2) == packed(r, 2), 'entries in their place');
    check(full_tensors(k{[3 1 4 2]}, 2) == packed(r, 2), 'and in a permuted one');
  end
  check(isequal(purlin.symmetric_from_full(full_tensors, 4, 3), packed), 'packed again');
  bent = full_tensors;
  bent(1, 2, 3, 1, 2) = bent(1, 2, 3, 1, 2) + 1.2;
  check_error('purlin:invalidArgument', '', @() purlin.symmetric_from_full(bent, 4, 3));
  averaged = purlin.symmetric_from_full(bent, 4, 3, 'symmetrize', true);
  check(abs(averaged(5, 2) - packed(5, 2) - 0.1) < 1e-14, 'or averaged');
  check(isa(purlin.symmetric_to_full(single(packed), 4, 3), 'single'), 'single precision');

  for t = 1:2
    entries = full_tensors(:, :, :, :, t);
    norms = purlin.symmetric_norm(packed, 4, 3);
    check(abs(norms(t) - norm(entries(:))) < 1e-13, 'Frobenius norm');
    norms = purlin.symmetric_norm(packed, 4, 3, 'one');
    check(abs(norms(t) - sum(abs(entries(:)))) < 1e-12, 'one norm');
    norms = purlin.symmetric_norm(packed, 4, 3, 'max');
    check(norms(t) == max(abs(entries(:))), 'largest entry');
  end
  identity = purlin.symmetric_identity(4, 3, 2);
  x = [0 1; 0.6 -2; 0.8 2];
  check(abs(purlin.sshopm_product(identity, 4, 3, x, 4) - [2; 162]) < 1e-12, 'E x^4 = |x|^4');
  gradient = purlin.sshopm_product(identity, 4, 3, x, 3);
  check(abs(gradient(:, 2) - 18 * x(:, 2)) < 1e-12, 'E x^3 = |x|^2 x');
  hessian = purlin.sshopm_product(packed, 4, 3, x, 2);
  gradient = purlin.sshopm_product(packed, 4, 3, x, 3);
  check(isequal(size(hessian), [3 3 2 2]), 'A x^2 is a matrix each');
  check(abs(hessian(:, :, 2, 1) * x(:, 2) - gradient(:, 2, 1)) < 1e-12, 'A x^2 x = A x^3');
  check(isequal(size(purlin.symmetric_identity(2, 3, 1, 5, 'single')), [6 5]), 'many identities');
  check(isequal(purlin.symmetric_convert([1 4; 2 5; 3 6], 2, 2, 'entries', 'polynomial'), [1 4; 4 10; 3 6]), ...
        'coefficients');
  check(isequal(purlin.symmetric_convert([1; 4; 3], 2, 2, 'polynomial', 'entries'), [1; 2; 3]), 'and back');

  check_error('purlin:invalidArgument', 'order', @() purlin.symmetric_count(1, 3));
  check_error('purlin:invalidArgument', 'dimension', @() purlin.symmetric_indices(3, 0));
  check_error('purlin:invalidArgument', 'order', @() purlin.symmetric_count(2.5, 3));
  check_error('purlin:invalidArgument', '', @() purlin.symmetric_identity(3, 3));
  check_error('purlin:invalidArgument', 'expected one of', @() purlin.symmetric_norm(packed, 4, 3, 'two'));
  check_error('purlin:invalidArgument', 'dtype', @() purlin.symmetric_identity(2, 2, 1, 1, 'int8'));
  check_error('purlin:invalidArgument', 'expected 15', @() purlin.symmetric_norm(ones(14, 2), 4, 3));
  check_error('purlin:invalidArgument', 'packed', @() purlin.symmetric_norm(int32(ones(15, 1)), 4, 3));
  check_error('purlin:invalidArgument', 'packed', @() purlin.symmetric_norm(1i * ones(15, 1), 4, 3));
  check_error('purlin:invalidArgument', 'power', @() purlin.sshopm_product(packed, 4, 3, x, 1));
  check_error('purlin:invalidArgument', 'class', @() purlin.sshopm_product(packed, 4, 3, single(x), 4));
end
