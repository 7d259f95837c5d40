function z = tt_hadamard(x, y)
%TT_HADAMARD  Product of tensor trains entry by entry.
%   z = purlin.tt_hadamard(x, y) is a purlin.TT whose ranks are the products of theirs.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_round.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_hadamard(x, x);
  z = purlin.TT(purlin_mex('tt_hadamard', purlin.internal.train(x), purlin.internal.train(y)));
end
