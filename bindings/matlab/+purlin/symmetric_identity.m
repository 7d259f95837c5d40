function packed = symmetric_identity(order, dimension, scale, count, dtype)
%SYMMETRIC_IDENTITY  The tensor E with E x^m = |x|^m, of even order.
%   packed = purlin.symmetric_identity(order, dimension) is U-by-1. Adding c*E to a tensor keeps its eigenvectors
%   and adds c to its eigenvalues.
%   purlin.symmetric_identity(order, dimension, scale, count, dtype) is SCALE*E, COUNT times, of class
%   'double' or 'single'.
%
%   Errors: purlin:invalidArgument (order not even).
%
%   Example
%     purlin.symmetric_identity(2, 2)   % [1; 0; 1]
  purlin.internal.at_least(nargin, 2, 'symmetric_identity');
  if nargin < 3
    scale = 1;
  end
  if nargin < 4
    count = 1;
  end
  if nargin < 5
    dtype = 'double';
  end
  packed = purlin_mex('symmetric_identity', order, dimension, scale, count, purlin.internal.single_class(dtype));
end
