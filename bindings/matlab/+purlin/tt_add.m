function z = tt_add(x, y, alpha, beta)
%TT_ADD  Sum of tensor trains.
%   z = purlin.tt_add(x, y) is x + y exactly, a purlin.TT whose ranks are the sums of theirs; purlin.tt_add(x, y, alpha, beta) is
%   alpha*x + beta*y.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_round, purlin.tt_scale.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_round(purlin.tt_add(x, x, 2, -1));
  purlin.internal.at_least(nargin, 2, 'tt_add');
  if nargin < 3
    alpha = 1;
  end
  if nargin < 4
    beta = 1;
  end
  z = purlin.TT(purlin_mex('tt_add', purlin.internal.numbers(alpha, 'alpha'), purlin.internal.train(x), ...
                           purlin.internal.numbers(beta, 'beta'), purlin.internal.train(y)));
end
