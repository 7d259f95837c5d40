function z = tt_scale(x, factor, varargin)
%TT_SCALE  A tensor train times a number.
%   z = purlin.tt_scale(x, factor) is a purlin.TT. Names: 'exponent' (0), a power of two to multiply with as well; 'spread'
%   'auto' (default), 'first', 'even': which cores the factor goes to.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_add.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_scale(x, 1, 'exponent', 2000);
  purlin.internal.at_least(nargin, 2, 'tt_scale');
  opts = purlin.internal.options({'exponent', 'spread'}, varargin);
  z = purlin.TT(purlin_mex('tt_scale', purlin.internal.train(x), purlin.internal.numbers(factor, 'factor'), opts));
end
