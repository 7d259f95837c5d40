function A = tt_full(x)
%TT_FULL  The full array of a tensor train.
%   A = purlin.tt_full(x) has the mode sizes as extents.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_svd, purlin.tt_elements.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     A = purlin.tt_full(x);
  purlin.internal.at_least(nargin, 1, 'tt_full');
  A = purlin_mex('tt_full', purlin.internal.train(x));
end
