function packed = symmetric_from_full(full, order, dimension, varargin)
%SYMMETRIC_FROM_FULL  Packs full symmetric tensors.
%   packed = purlin.symmetric_from_full(full, order, dimension) packs an n-by-..-by-n array, or n-by-..-by-n-by-T
%   of T tensors, into U-by-T lexicographic entries. An array that is not symmetric is refused.
%   purlin.symmetric_from_full(..., name, value, ...):
%     'symmetrize'  true averages over permutations instead of refusing
%     'tolerance'   asymmetry allowed, relative to the largest entry; 0 is 1e-12 (double) or 1e-5 (single)
%
%   Errors: purlin:invalidArgument (sizes, not symmetric), purlin:outOfMemory.
%
%   See also purlin.symmetric_to_full.
%
%   Example
%     purlin.symmetric_from_full([2 1; 1 3], 2, 2)   % [2; 1; 3]
  purlin.internal.at_least(nargin, 3, 'symmetric_from_full');
  opts = purlin.internal.options({'symmetrize', 'tolerance'}, varargin);
  packed = purlin_mex('symmetric_from_full', purlin.internal.data(full, 'full'), order, dimension, opts);
end
