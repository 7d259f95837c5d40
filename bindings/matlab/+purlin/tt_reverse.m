function z = tt_reverse(x)
%TT_REVERSE  A tensor train read backwards.
%   z = purlin.tt_reverse(x) is a purlin.TT.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_rotate.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_reverse(x);
  purlin.internal.at_least(nargin, 1, 'tt_reverse');
  z = purlin.TT(purlin_mex('tt_reverse', purlin.internal.train(x)));
end
