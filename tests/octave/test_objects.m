function test_objects()
% TEST_OBJECTS  Tensors and matrices of the library's own: copied both ways, described, refused, deleted.
  before = purlin.live_handles();
  arrays = {magic(4), single(rand(3, 4, 5)), int32([1 -2 3]), int64([4; 5]), uint8([1 2; 3 4]), uint16(7), ...
            [1 + 2i, 3 - 4i; 5i, 6], single([1 - 1i; 2i]), zeros(3, 0), 42};
  for k = 1:numel(arrays)
    t = purlin.Tensor(arrays{k});
    back = gather(t);
    check(strcmp(class(back), class(arrays{k})), 'the class comes back');
    check(isequal(back, arrays{k}), 'and the numbers');
    info = t.describe();
    check(isequal(info.size, size(arrays{k})) && info.elements == numel(arrays{k}), 'size');
    check(strcmp(info.location, 'host') && info.order == 0, 'dense, on the host');
    delete(t);
  end
  t = purlin.Tensor(logical([1 0 1]));
  check(isequal(gather(t), uint8([1 0 1])), 'logical is stored as uint8');
  delete(t);
  t = purlin.Tensor(reshape(1:60, 15, 4), 'order', 4, 'dimension', 3);
  info = t.describe();
  check(info.order == 4 && info.dimension == 3, 'symmetric');
  check(isequal(gather(t), reshape(1:60, 15, 4)), 'and back');
  same = t;
  delete(t);
  check_error('purlin:invalidHandle', 'tensor', @() gather(same));
  delete(same);
  delete(same);
  check_error('purlin:invalidArgument', 'only one', @() purlin.Tensor(ones(15, 1), 'order', 4));
  check_error('purlin:invalidArgument', '15', @() purlin.Tensor(ones(14, 2), 'order', 4, 'dimension', 3));
  check_error('purlin:invalidArgument', 'class', @() purlin.Tensor('text'));
  check_error('purlin:invalidHandle', 'key', @() purlin_mex('tensor_gather', 5));
  check_error('purlin:invalidHandle', 'tensor', @() purlin_mex('tensor_gather', uint64(1234567)));

  m = purlin.Matrix(magic(3));
  check(isequal(gather(m), magic(3)), 'a dense matrix');
  check_error('purlin:invalidHandle', 'tensor', @() purlin_mex('tensor_gather', m.key));
  delete(m);
  full_matrices = {[1 0 0 0; 0 0 0 0; 0 2 3 0], [1i 0; 2 0], zeros(2, 3), double(magic(5) > 12)};
  for k = 1:numel(full_matrices)
    m = purlin.Matrix(sparse(full_matrices{k}));
    info = m.describe();
    check(strcmp(info.storage, 'csr') && info.nnz == nnz(full_matrices{k}), 'sparse rows');
    check(isequal([info.rows, info.cols], size(full_matrices{k})), 'its size');
    check(issparse(gather(m)) && isequal(full(gather(m)), full_matrices{k}), 'and back');
    delete(m);
  end
  check_error('purlin:invalidArgument', 'matrix', @() purlin.Matrix(ones(2, 2, 2)));
  t = purlin.Tensor(ones(15, 1), 'order', 4, 'dimension', 3);
  purlin.configure('threads', 2);
  check_error('purlin:invalidArgument', 'context', @() purlin.sshopm_solve(t, 4, 3));
  delete(t);
  if isempty(purlin.devices())
    check_error('purlin:notSupported', 'location', @() purlin.Tensor(1, 'location', 'device'));
  end
  check(purlin.live_handles() == before, 'every object is gone');
end
