function norms = symmetric_norm(packed, order, dimension, kind)
%SYMMETRIC_NORM  Norms of symmetric tensors, over all entries of the full tensor.
%   norms = purlin.symmetric_norm(packed, order, dimension) is the Frobenius norm of every tensor of PACKED
%   (U-by-T), 1-by-T.
%   norms = purlin.symmetric_norm(packed, order, dimension, kind) where KIND is 'frobenius', 'one' or 'max'.
%
%   Errors: purlin:invalidArgument.
%
%   Example
%     purlin.symmetric_norm([0; 1; 0], 2, 2)   % sqrt(2)
  purlin.internal.at_least(nargin, 3, 'symmetric_norm');
  if nargin < 4
    kind = 'frobenius';
  end
  norms = purlin_mex('symmetric_norm', purlin.internal.data(packed, 'packed'), order, dimension, kind);
end
