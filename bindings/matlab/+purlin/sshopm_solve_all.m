function result = sshopm_solve_all(A, order, dimension, varargin)
%SSHOPM_SOLVE_ALL  All real Z-eigenpairs of symmetric tensors, saddles too.
%   result = purlin.sshopm_solve_all(A, order, dimension) for every tensor of A: U-by-T packed lexicographic entries,
%   double or single, or a symmetric purlin.Tensor.
%
%   RESULT is a struct; K is the option 'pairs' and T the number of tensors:
%     count      1-by-T       pairs listed (int32); the places beyond hold NaN, PAIR_NONE in classes, 0 in basins
%     found      1-by-T       pairs found (int32): more than count where 'pairs' is too small for all of them
%     values     K-by-T       descending
%     vectors    n-by-K-by-T  unit vectors
%     residuals  K-by-T       |A x^(m-1) - lambda x|
%     classes    K-by-T       int32, see purlin.codes
%     hessian    (n-1)-by-K-by-T  eigenvalues of the projected Hessian, ascending
%     basins     K-by-T       int32, starts that ended in the pair
%     status     1-by-T       int32, see purlin.codes
%     morse_sum, morse_expected  1-by-T, int32: the sum of (-1)^k over the pairs, k the number of negative
%                eigenvalues of the projected Hessian, and its value for a complete set (intmin: not known, as with a
%                degenerate pair). A set that differs is incomplete. So is one whose numbers of pairs with each k
%                violate the Morse inequalities, and one with a pair that fewer than four starts reached: see status.
%     info       totals: starts, iterations, truncated_tensors, seconds, ..
%
%   purlin.sshopm_solve_all(..., name, value, ...) or (..., struct):
%     'pairs'           K. By default all are listed: memory for the pairs of a generic tensor, ((m-1)^n - 1)/(m-2), at
%                       most 512, and a second search where that was too little
%     'starts', 'max_starts', 'tolerance'   of the search
%     'seed'            of its random starts, default 0
%     'max_iterations'  of a start; 0, the default, is 200
%     'sign'            'canonical' (default) or 'raw'
%     'merge_angle', 'merge_value', 'degeneracy_tolerance'   as in purlin.sshopm_solve
%     'progress'        @(step, steps, measure) that returns true to cancel
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory; an error of the progress function.
%
%   See also purlin.sshopm_solve, purlin.sshopm_classify.
%
%   Example
%     A = [-.1281 .0516 -.0954 -.1958 -.1790 -.2676 .3251 .2513 .1773 .0338]';
%     r = purlin.sshopm_solve_all(A, 3, 3);
%     r.count   % 7
  purlin.internal.at_least(nargin, 3, 'sshopm_solve_all');
  names = [purlin.internal.option_names('all'), {'pairs', 'progress'}];
  opts = purlin.internal.options(names, varargin);
  purlin.internal.whole(order, 'order', 2);
  purlin.internal.whole(dimension, 'dimension', 1);
  whole = ~isfield(opts, 'pairs') || isempty(opts.pairs);
  if whole
    if order == 2
      opts.pairs = double(dimension);
    else
      opts.pairs = min(512, floor(((double(order) - 1) ^ double(dimension) - 1) / (double(order) - 2)));
    end
  end
  data = purlin.internal.data(A, 'A');
  result = purlin_mex('sshopm_solve_all', data, order, dimension, opts);
  if whole && result.info.truncated_tensors > 0
    opts.pairs = double(max(result.found(:)));
    result = purlin_mex('sshopm_solve_all', data, order, dimension, opts);
  end
end
