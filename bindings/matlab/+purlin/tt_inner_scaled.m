function [result, info] = tt_inner_scaled(x, y, varargin)
%TT_INNER_SCALED  purlin.tt_inner with an exponent of its own, which no train exceeds.
%   s = purlin.tt_inner_scaled(x, y, name, value, ...) is a struct: the number is s.mantissa * 2^s.exponent, the logarithm of
%   its modulus s.log_abs, and the number over its modulus s.phase. Names are those of purlin.tt_inner.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_inner.
%
%   Example
%     x = {rand(1, 2, 3), rand(3, 2)};
%     v = purlin.tt_inner_scaled(x, x);
  purlin.internal.at_least(nargin, 2, 'tt_inner_scaled');
  opts = purlin.internal.tt_options(varargin, 'an inner product', {'norm_method', 'assume_hermitian'});
  [result, info] = purlin_mex('tt_inner', purlin.internal.train(x), purlin.internal.train(y), opts, true);
end
