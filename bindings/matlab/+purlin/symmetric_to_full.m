function full = symmetric_to_full(packed, order, dimension)
%SYMMETRIC_TO_FULL  Full arrays of packed symmetric tensors.
%   full = purlin.symmetric_to_full(packed, order, dimension) is n-by-..-by-n for one tensor and n-by-..-by-n-by-T
%   for PACKED of U-by-T.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.symmetric_from_full.
%
%   Example
%     purlin.symmetric_to_full([2; 1; 3], 2, 2)   % [2 1; 1 3]
  purlin.internal.at_least(nargin, 3, 'symmetric_to_full');
  full = purlin_mex('symmetric_to_full', purlin.internal.data(packed, 'packed'), order, dimension);
end
