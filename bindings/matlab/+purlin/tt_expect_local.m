function [values, info] = tt_expect_local(x, op, sites, varargin)
%TT_EXPECT_LOCAL  Expectation values of an operator at single sites of a tensor train.
%   values = purlin.tt_expect_local(x, op, sites, name, value, ...) is a column: <x|A_k|x> / <x|x> for each k of SITES, by
%   default all, with the n-by-n matrix OP at site k. Names are those of
%   purlin.tt_inner but 'conjugate', 'method', 'kernel' and 'block'.
%   [values, info] = ... also has the method and why, operations and bytes.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s, which are used in place.
%
%   Errors: purlin:invalidArgument, purlin:numerical (a number that is not finite), purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_correlation.
%
%   Example
%     m = purlin.tt_expect_local({rand(1, 2, 3), rand(3, 2)}, [1 0; 0 -1]);
  purlin.internal.at_least(nargin, 2, 'tt_expect_local');
  given = purlin.internal.train(x);
  if nargin < 3 || isempty(sites)
    if iscell(x)
      sites = 1:numel(x);
    else
      s = describe(x);
      sites = 1:s.length;
    end
  end
  idle = {'norm_method', 'conjugate', 'assume_hermitian', 'method', 'kernel', 'block'};
  opts = purlin.internal.tt_options(varargin, 'an expectation value', idle);
  [values, info] = purlin_mex('tt_expect_local', given, op, purlin.internal.numbers(sites, 'sites'), opts);
end
