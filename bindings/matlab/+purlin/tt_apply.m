function [z, info] = tt_apply(H, x, varargin)
%TT_APPLY  A TT-matrix times a tensor train.
%   z = purlin.tt_apply(H, x) is a purlin.TT whose ranks are the products of those of H and x.
%   [z, info] = purlin.tt_apply(H, x, 'epsilon', e, 'max_rank', r, 'absolute', false) truncates it on the way, as purlin.tt_round
%   does.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_round, purlin.tt_sandwich.
%
%   Example
%     z = purlin.tt_apply(purlin.tt_ising(2, 1, 1), {rand(1, 2, 3), rand(3, 2)});
  purlin.internal.at_least(nargin, 2, 'tt_apply');
  opts = purlin.internal.options({'epsilon', 'max_rank', 'absolute'}, varargin);
  [key, info] = purlin_mex('tt_apply', purlin.internal.train(H), purlin.internal.train(x), opts, ~isempty(varargin));
  z = purlin.TT(key);
end
