function [z, info] = tt_round(x, varargin)
%TT_ROUND  The tensor train of smallest ranks within an error of a given one.
%   [z, info] = purlin.tt_round(x, 'epsilon', e, 'max_rank', r, 'absolute', false): norm(x - z) is at most e norm(x), or e; without
%   an epsilon only rounding noise is dropped, and 'absolute' is refused. info has error, log_norm and max_rank.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_add, purlin.tt_svd.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_round(x, 'epsilon', 1e-8);
  purlin.internal.at_least(nargin, 1, 'tt_round');
  opts = purlin.internal.options({'epsilon', 'max_rank', 'absolute'}, varargin);
  [key, info] = purlin_mex('tt_round', purlin.internal.train(x), opts);
  z = purlin.TT(key);
end
