function [result, info] = tt_distance_scaled(x, y, varargin)
%TT_DISTANCE_SCALED  purlin.tt_distance with an exponent of its own, which no train exceeds.
%   s = purlin.tt_distance_scaled(x, y, name, value, ...) is a struct: the number is s.mantissa * 2^s.exponent, the logarithm of
%   its modulus s.log_abs, and the number over its modulus s.phase. Names are those of purlin.tt_distance.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_distance.
%
%   Example
%     x = {rand(1, 2, 3), rand(3, 2)};
%     purlin.tt_distance_scaled(x, x)
  purlin.internal.at_least(nargin, 2, 'tt_distance_scaled');
  idle = {'norm_method', 'conjugate', 'assume_hermitian', 'method', 'kernel', 'block'};
  opts = purlin.internal.tt_options(varargin, 'a distance', idle);
  [result, info] = purlin_mex('tt_distance', purlin.internal.train(x), purlin.internal.train(y), opts, true);
end
