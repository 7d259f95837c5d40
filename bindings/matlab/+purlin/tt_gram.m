function G = tt_gram(x, y, varargin)
%TT_GRAM  Matrix of the inner products of many tensor trains.
%   G = purlin.tt_gram(x) has G(i, j) = <x{i}|x{j}> for a cell array of trains, at half the work; G = purlin.tt_gram(x, y) has
%   <x{i}|y{j}>. Names are those of purlin.tt_inner; with names, an empty Y stands for X.
%   Each train is a purlin.TT object or a cell array of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:numerical, purlin:outOfMemory.
%
%   See also purlin.tt_gram_scaled, purlin.tt_inner, purlin.tt_inner_batch.
%
%   Example
%     G = purlin.tt_gram({{rand(1, 2, 3), rand(3, 2)}, {rand(1, 2, 2), rand(2, 2)}});
  purlin.internal.at_least(nargin, 1, 'tt_gram');
  if nargin < 2
    y = [];
  end
  y = purlin.internal.other_trains(y);
  opts = purlin.internal.tt_options(varargin, 'a Gram matrix', {'norm_method', 'assume_hermitian'});
  G = purlin_mex('tt_gram', purlin.internal.trains(x, 'x'), y, opts, false, false);
end
