function values = tt_inner_batch(x, y, varargin)
%TT_INNER_BATCH  Inner products of many pairs of tensor trains in one call.
%   v = purlin.tt_inner_batch(x, y) is a column: v(k) = <x{k}|y{k}>. Names are those of purlin.tt_inner.
%   Each train is a purlin.TT object or a cell array of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:numerical, purlin:outOfMemory.
%
%   See also purlin.tt_inner_batch_scaled, purlin.tt_inner, purlin.tt_gram.
%
%   Example
%     x = {{rand(1, 2, 3), rand(3, 2)}, {rand(1, 2, 2), rand(2, 2)}};
%     v = purlin.tt_inner_batch(x, x);
  purlin.internal.at_least(nargin, 2, 'tt_inner_batch');
  opts = purlin.internal.tt_options(varargin, 'a batch', {'norm_method', 'assume_hermitian'});
  values = purlin_mex('tt_gram', purlin.internal.trains(x, 'x'), purlin.internal.trains(y, 'y'), opts, true, false);
end
