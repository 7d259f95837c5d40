function z = tt_to_open(x)
%TT_TO_OPEN  The open tensor train of a ring, exactly: ranks multiply by that of the boundary.
%   z = purlin.tt_to_open(x) is a purlin.TT.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_round.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_to_open(x);
  purlin.internal.at_least(nargin, 1, 'tt_to_open');
  z = purlin.TT(purlin_mex('tt_to_open', purlin.internal.train(x)));
end
