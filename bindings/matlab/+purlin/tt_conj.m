function z = tt_conj(x)
%TT_CONJ  Complex conjugate of a tensor train.
%   z = purlin.tt_conj(x) is a purlin.TT.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_inner.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_conj(x);
  purlin.internal.at_least(nargin, 1, 'tt_conj');
  z = purlin.TT(purlin_mex('tt_conj', purlin.internal.train(x)));
end
