function z = tt_ones(modes, varargin)
%TT_ONES  A tensor train whose entries are all 1.
%   z = purlin.tt_ones(modes). Names: 'dtype' 'double' or 'single', 'complex' (false).
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_zeros, purlin.tt_random.
%
%   Example
%     z = purlin.tt_ones([2 3 4]);
  purlin.internal.at_least(nargin, 1, 'tt_ones');
  opts = struct('dtype', 'double', 'complex', false);
  given = purlin.internal.options(fieldnames(opts), varargin);
  for name = fieldnames(given)'
    opts.(name{1}) = given.(name{1});
  end
  z = purlin.TT(purlin_mex('tt_constant', purlin.internal.numbers(modes, 'modes'), opts.dtype, opts.complex, true));
end
