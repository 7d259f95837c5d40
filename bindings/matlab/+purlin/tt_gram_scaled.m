function s = tt_gram_scaled(x, y, varargin)
%TT_GRAM_SCALED  purlin.tt_gram with an exponent for each number, which no train exceeds.
%   s = purlin.tt_gram_scaled(x, y, name, value, ...) is a struct of matrices: the numbers are s.mantissa .* 2.^s.exponent,
%   the logarithms of their moduli s.log_abs, and the numbers over their moduli s.phase. Names are those of purlin.tt_inner;
%   with names, an empty Y stands for X.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_gram, purlin.tt_inner_scaled.
%
%   Example
%     s = purlin.tt_gram_scaled({{rand(1, 2, 3), rand(3, 2)}, {rand(1, 2, 2), rand(2, 2)}});
  purlin.internal.at_least(nargin, 1, 'tt_gram_scaled');
  if nargin < 2
    y = [];
  end
  y = purlin.internal.other_trains(y);
  opts = purlin.internal.tt_options(varargin, 'a Gram matrix', {'norm_method', 'assume_hermitian'});
  [m, e] = purlin_mex('tt_gram', purlin.internal.trains(x, 'x'), y, opts, false, true);
  s = purlin.internal.scaled_list(m, e);
end
