function count = symmetric_count(order, dimension)
%SYMMETRIC_COUNT  Number of distinct entries of a symmetric tensor.
%   count = purlin.symmetric_count(order, dimension) is nchoosek(order + dimension - 1, order).
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.symmetric_indices.
%
%   Example
%     purlin.symmetric_count(4, 3)   % 15
  purlin.internal.at_least(nargin, 2, 'symmetric_count');
  purlin.internal.whole(order, 'order', 2);
  purlin.internal.whole(dimension, 'dimension', 1);
  count = purlin_mex('symmetric_count', order, dimension);
end
