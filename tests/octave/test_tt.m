function test_tt()
% TEST_TT  Tensor trains and TT-matrices as objects, from cells of cores.
  purlin.configure('backend', 'cpu');
  before = purlin.live_handles();
  x = {rand(1, 2, 3), rand(3, 4, 2), rand(2, 3)};
  t = purlin.TT(x);
  s = describe(t);
  check(isequal(s.modes, [2 4 3]) && isequal(s.ranks, [1 3 2 1]), 'a trailing extent of 1 may be dropped');
  check(s.length == 3 && s.max_rank == 3 && s.cyclic == 0 && s.complex == 0 && strcmp(s.dtype, 'double'), 'describe');
  check(strcmp(s.location, 'host') && s.bytes == 8 * (6 + 24 + 6), 'where and how large');
  check(isequal(gather(t), x), 'gather');
  z = {complex(rand(2, 2, 2), rand(2, 2, 2)), rand(2, 3, 2)};
  r = purlin.TT(z);
  check(isequal(gather(r), {z{1}, complex(z{2}, 0)}) || isequal(gather(r), z), 'complex cores beside real ones');
  check(describe(r).cyclic == 1 && describe(r).complex == 1, 'a ring');
  one = purlin.TT({single(rand(1, 2))});
  check(isequal(describe(one).ranks, [1 1]) && strcmp(describe(one).dtype, 'single'), 'a single core');
  h = purlin.TTMatrix({rand(1, 2, 3, 4), rand(4, 3, 2)});
  d = describe(h);
  check(isequal(d.rows, [2 3]) && isequal(d.cols, [3 2]) && isequal(d.ranks, [1 4 1]), 'a TT-matrix');
  cores = gather(h);
  check(isequal(size(cores{1}), [1 2 3 4]) && isequal(size(cores{2}), [4 3 2]), 'and its cores');
  check_error('purlin:invalidArgument', 'core 2 has left rank 4', @() purlin.TT({rand(1, 2, 3), rand(4, 2)}));
  check_error('purlin:invalidArgument', 'the first rank is 2', @() purlin.TT({rand(2, 2, 3), rand(3, 2)}));
  check_error('purlin:invalidArgument', 'not a cell array', @() purlin.TT(rand(2)));
  check_error('purlin:invalidArgument', 'core 1 is not a full array', @() purlin.TT({'text'}));
  check_error('purlin:invalidArgument', 'core 1 has 4 dimensions', @() purlin.TT({rand(1, 2, 2, 2)}));
  check_error('purlin:invalidArgument', 'double and single', @() purlin.TT({rand(1, 2, 2), single(rand(2, 2))}));
  check_error('purlin:notSupported', 'location', @() purlin.TT(x, 'location', 'device'));
  delete(t);
  check_error('purlin:invalidHandle', 'destroyed', @() gather(t));
  delete(r);
  delete(one);
  delete(h);
  check(purlin.live_handles() == before, 'no handle is left');
end
