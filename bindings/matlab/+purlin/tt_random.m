function z = tt_random(modes, ranks, varargin)
%TT_RANDOM  A tensor train of normally distributed cores.
%   z = purlin.tt_random(modes, ranks) with one rank more than modes; the squared norm is 1 in the mean. Names: 'seed' (0),
%   'dtype' 'double' or 'single', 'complex' (false).
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_ones.
%
%   Example
%     z = purlin.tt_random([2 3 4], [1 2 2 1], 'seed', 7);
  purlin.internal.at_least(nargin, 2, 'tt_random');
  opts = struct('seed', 0, 'dtype', 'double', 'complex', false);
  given = purlin.internal.options(fieldnames(opts), varargin);
  for name = fieldnames(given)'
    opts.(name{1}) = given.(name{1});
  end
  z = purlin.TT(purlin_mex('tt_random', purlin.internal.numbers(modes, 'modes'), purlin.internal.numbers(ranks, 'ranks'), ...
                           opts.seed, opts.dtype, opts.complex));
end
