function products = sshopm_product(A, order, dimension, X, power)
%SSHOPM_PRODUCT  Products of symmetric tensors with vectors: A x^m, A x^(m-1), A x^(m-2).
%   products = purlin.sshopm_product(A, order, dimension, X, power) for A of U-by-T and X of n-by-V, the same
%   vectors for all tensors, or n-by-V-by-T. POWER is
%     order      A x^m, V-by-T
%     order - 1  A x^(m-1), n-by-V-by-T
%     order - 2  A x^(m-2), n-by-n-by-V-by-T
%   A and X are both double or both single.
%
%   Errors: purlin:invalidArgument.
%
%   Example
%     purlin.sshopm_product([2; 1; 3], 2, 2, [1; 1], 2)   % 7
  purlin.internal.at_least(nargin, 5, 'sshopm_product');
  products = purlin_mex('sshopm_product', purlin.internal.data(A, 'A'), order, dimension, ...
                        purlin.internal.data(X, 'X'), power);
end
