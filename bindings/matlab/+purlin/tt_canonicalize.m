function [z, exponent] = tt_canonicalize(x, centre)
%TT_CANONICALIZE  A tensor train with orthonormal cores but for one.
%   [z, q] = purlin.tt_canonicalize(x, centre): z times 2^q is the train; q is 0 unless core CENTRE would leave the range of its
%   class. Triangular factors have diagonals that are not negative.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_round.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_canonicalize(x, 2);
  purlin.internal.at_least(nargin, 2, 'tt_canonicalize');
  [key, exponent] = purlin_mex('tt_canonicalize', purlin.internal.train(x), centre);
  z = purlin.TT(key);
end
