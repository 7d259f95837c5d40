function [result, info] = tt_norm_scaled(x, varargin)
%TT_NORM_SCALED  purlin.tt_norm with an exponent of its own, which no train exceeds.
%   s = purlin.tt_norm_scaled(x, name, value, ...) is a struct: the number is s.mantissa * 2^s.exponent, the logarithm of
%   its modulus s.log_abs, and the number over its modulus s.phase. Names are those of purlin.tt_norm.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_norm.
%
%   Example
%     v = purlin.tt_norm_scaled({rand(1, 2, 3), rand(3, 2)});
  purlin.internal.at_least(nargin, 1, 'tt_norm_scaled');
  opts = purlin.internal.tt_options(varargin, 'a norm', {'conjugate', 'assume_hermitian'});
  [result, info] = purlin_mex('tt_norm', purlin.internal.train(x), opts, true);
end
