function s = tt_inner_batch_scaled(x, y, varargin)
%TT_INNER_BATCH_SCALED  purlin.tt_inner_batch with an exponent for each number, which no train exceeds.
%   s = purlin.tt_inner_batch_scaled(x, y, name, value, ...) is a struct of columns: the numbers are
%   s.mantissa .* 2.^s.exponent, the logarithms of their moduli s.log_abs, and the numbers over their moduli s.phase. Names
%   are those of purlin.tt_inner.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_inner_batch, purlin.tt_inner_scaled.
%
%   Example
%     x = {{rand(1, 2, 3), rand(3, 2)}, {rand(1, 2, 2), rand(2, 2)}};
%     s = purlin.tt_inner_batch_scaled(x, x);
  purlin.internal.at_least(nargin, 2, 'tt_inner_batch_scaled');
  opts = purlin.internal.tt_options(varargin, 'a batch', {'norm_method', 'assume_hermitian'});
  [m, e] = purlin_mex('tt_gram', purlin.internal.trains(x, 'x'), purlin.internal.trains(y, 'y'), opts, true, true);
  s = purlin.internal.scaled_list(m, e);
end
