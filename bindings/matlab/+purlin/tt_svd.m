function [z, info] = tt_svd(A, varargin)
%TT_SVD  The tensor train of a full array.
%   [z, info] = purlin.tt_svd(A, 'epsilon', e, 'max_rank', r, 'absolute', false): norm(A - z) is at most e norm(A). 'modes' takes the
%   elements of A with other extents, as reshape does.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_full, purlin.tt_round.
%
%   Example
%     z = purlin.tt_svd(rand(4, 5, 6), 'epsilon', 1e-2);
  purlin.internal.at_least(nargin, 1, 'tt_svd');
  opts = purlin.internal.options({'epsilon', 'max_rank', 'absolute', 'modes'}, varargin);
  modes = [];
  if isfield(opts, 'modes')
    modes = purlin.internal.numbers(opts.modes, 'modes');
  end
  [key, info] = purlin_mex('tt_svd', A, opts, modes);
  z = purlin.TT(key);
end
