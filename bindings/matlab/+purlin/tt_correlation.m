function [values, info] = tt_correlation(x, a, b, varargin)
%TT_CORRELATION  Correlations of two operators at all pairs of sites of a tensor train.
%   C = purlin.tt_correlation(x, a, b, name, value, ...) is d-by-d: C(k, l) = <x|A_k B_l|x> / <x|x> with the n-by-n matrices
%   A and B. Names are those of purlin.tt_inner, but 'conjugate', 'method', 'kernel' and 'block'.
%   [C, info] = ... also has the method and why, operations and bytes.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s, which are used in place.
%
%   Errors: purlin:invalidArgument, purlin:numerical (a number that is not finite), purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_expect_local.
%
%   Example
%     Z = [1 0; 0 -1];
%     C = purlin.tt_correlation({rand(1, 2, 3), rand(3, 2)}, Z, Z);
  purlin.internal.at_least(nargin, 3, 'tt_correlation');
  idle = {'norm_method', 'conjugate', 'assume_hermitian', 'method', 'kernel', 'block'};
  opts = purlin.internal.tt_options(varargin, 'a correlation', idle);
  [values, info] = purlin_mex('tt_correlation', purlin.internal.train(x), a, b, opts);
end
