function indices = symmetric_indices(order, dimension)
%SYMMETRIC_INDICES  Index tuples of the packed entries.
%   indices = purlin.symmetric_indices(order, dimension) is order-by-U: column r is the nondecreasing tuple, from 1,
%   of the packed entry r. The tuples run lexicographically.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.symmetric_exponents.
%
%   Example
%     purlin.symmetric_indices(3, 2)   % [1 1 1 2; 1 1 2 2; 1 2 2 2]
  purlin.internal.at_least(nargin, 2, 'symmetric_indices');
  purlin.internal.whole(order, 'order', 2);
  purlin.internal.whole(dimension, 'dimension', 1);
  indices = purlin_mex('symmetric_indices', order, dimension);
end
