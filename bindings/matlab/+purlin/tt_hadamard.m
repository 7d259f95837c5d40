function [z, info] = tt_hadamard(x, y, varargin)
%TT_HADAMARD  Product of tensor trains entry by entry.
%   z = purlin.tt_hadamard(x, y) is a purlin.TT whose ranks are the products of theirs.
%   [z, info] = purlin.tt_hadamard(x, y, 'epsilon', e, 'max_rank', r, 'absolute', false) truncates it on the way, as
%   purlin.tt_round does; the trains are open then.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_round.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_hadamard(x, x);
  purlin.internal.at_least(nargin, 2, 'tt_hadamard');
  opts = purlin.internal.options({'epsilon', 'max_rank', 'absolute'}, varargin);
  [key, info] = purlin_mex('tt_hadamard', purlin.internal.train(x), purlin.internal.train(y), opts, ~isempty(varargin));
  z = purlin.TT(key);
end
