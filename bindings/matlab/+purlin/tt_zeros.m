function z = tt_zeros(modes, varargin)
%TT_ZEROS  A tensor train whose entries are all 0.
%   z = purlin.tt_zeros(modes). Names: 'dtype' 'double' or 'single', 'complex' (false).
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_ones, purlin.tt_random.
%
%   Example
%     z = purlin.tt_zeros([2 3 4]);
  purlin.internal.at_least(nargin, 1, 'tt_zeros');
  opts = struct('dtype', 'double', 'complex', false);
  given = purlin.internal.options(fieldnames(opts), varargin);
  for name = fieldnames(given)'
    opts.(name{1}) = given.(name{1});
  end
  z = purlin.TT(purlin_mex('tt_constant', purlin.internal.numbers(modes, 'modes'), opts.dtype, opts.complex, false));
end
