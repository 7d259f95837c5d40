function exponents = symmetric_exponents(order, dimension)
%SYMMETRIC_EXPONENTS  How often each index occurs in the packed entries.
%   exponents = purlin.symmetric_exponents(order, dimension) is dimension-by-U: element (i, r) counts the index i in
%   the packed entry r.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.symmetric_indices.
%
%   Example
%     purlin.symmetric_exponents(3, 2)   % [3 2 1 0; 0 1 2 3]
  purlin.internal.at_least(nargin, 2, 'symmetric_exponents');
  purlin.internal.whole(order, 'order', 2);
  purlin.internal.whole(dimension, 'dimension', 1);
  exponents = purlin_mex('symmetric_exponents', order, dimension);
end
