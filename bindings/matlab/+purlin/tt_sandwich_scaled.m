function [result, info] = tt_sandwich_scaled(y, H, x, varargin)
%TT_SANDWICH_SCALED  purlin.tt_sandwich with an exponent of its own, which no train exceeds.
%   s = purlin.tt_sandwich_scaled(y, H, x, name, value, ...) is a struct: the number is s.mantissa * 2^s.exponent, the logarithm of
%   its modulus s.log_abs, and the number over its modulus s.phase. Names are those of purlin.tt_sandwich.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_sandwich.
%
%   Example
%     x = {rand(1, 2, 3), rand(3, 2)};
%     e = purlin.tt_sandwich_scaled(x, purlin.tt_ising(2, 1, 1), x);
  purlin.internal.at_least(nargin, 3, 'tt_sandwich_scaled');
  opts = purlin.internal.tt_options(varargin, 'a sandwich', {'norm_method', 'kernel'});
  [result, info] = purlin_mex('tt_sandwich', purlin.internal.train(y), purlin.internal.train(H), purlin.internal.train(x), opts, true);
end
