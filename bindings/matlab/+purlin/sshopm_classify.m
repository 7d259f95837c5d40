function result = sshopm_classify(A, order, dimension, values, vectors, varargin)
%SSHOPM_CLASSIFY  Residual, curvature and class of given eigenpairs.
%   result = purlin.sshopm_classify(A, order, dimension, values, vectors) for VALUES of V-by-T and VECTORS of
%   n-by-V-by-T has the fields
%     residuals  V-by-T
%     hessian    (n-1)-by-V-by-T, eigenvalues of the projected Hessian, ascending
%     classes    V-by-T, int32, see purlin.codes
%   purlin.sshopm_classify(..., 'degeneracy_tolerance', t): curvature below t*max(1, norm of A) is degenerate.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.sshopm_solve_all.
%
%   Example
%     r = purlin.sshopm_classify([2; 0; 3], 2, 2, 3, [0; 1]);
%     c = purlin.codes();
%     r.classes == c.PAIR_NEGATIVE_STABLE   % true
  purlin.internal.at_least(nargin, 5, 'sshopm_classify');
  opts = purlin.internal.options({'degeneracy_tolerance'}, varargin);
  result = purlin_mex('sshopm_classify', purlin.internal.data(A, 'A'), order, dimension, ...
                      purlin.internal.data(values, 'values'), purlin.internal.data(vectors, 'vectors'), opts);
end
