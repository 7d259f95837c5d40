function values = tt_elements(x, indices)
%TT_ELEMENTS  Entries of the tensor that a train stands for.
%   values = purlin.tt_elements(x, indices) is a column: one entry for each column of the d-by-m INDICES, which count from 1.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_full.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     v = purlin.tt_elements(x, [1; 2; 3]);
  purlin.internal.at_least(nargin, 2, 'tt_elements');
  values = purlin_mex('tt_elements', purlin.internal.train(x), purlin.internal.numbers(indices, 'indices'));
end
