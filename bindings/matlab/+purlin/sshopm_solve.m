function result = sshopm_solve(A, order, dimension, varargin)
%SSHOPM_SOLVE  Local maxima and minima of A x^m on the unit sphere: Z-eigenpairs of symmetric tensors.
%   result = purlin.sshopm_solve(A, order, dimension) finds pairs A x^(m-1) = lambda x, |x| = 1, from many starts,
%   for every tensor of A: U-by-T packed lexicographic entries (or U-by-any further extents; results then have the
%   same further extents), double or single, or a symmetric purlin.Tensor.
%
%   RESULT is a struct; K is the option 'pairs' and T the number of tensors:
%     count      1-by-T       pairs found (int32); what lies beyond holds NaN
%     values     K-by-T       sorted: maxima descending, minima ascending
%     vectors    n-by-K-by-T  unit vectors
%     residuals  K-by-T       |A x^(m-1) - lambda x|
%     classes    K-by-T       int32, see purlin.codes
%     hessian    (n-1)-by-K-by-T  eigenvalues of the projected Hessian, ascending
%     basins     K-by-T       int32, starts that ended in the pair
%     status     1-by-T       int32, see purlin.codes
%     info       totals: iterations, converged_starts, seconds, ..
%   Saddles are never found by it: see purlin.sshopm_all.
%
%   purlin.sshopm_solve(..., name, value, ...) or (..., struct):
%     'goal'             'maxima' (default), 'minima' or 'both' (maxima, then minima)
%     'pairs'            K, pairs kept for each tensor, default 8
%     'method'           'hybrid' (safeguarded Newton, default) or 'power'
%     'shift'            'adaptive' (default), 'guaranteed', or a number: the fixed shift, negative for minima
%     'starts'           how many, or which: 'hemisphere', 'sphere', 'icosahedral', 'random', 'random_cube', or an
%                        n-by-V array of the class of A
%     'start_count'      how many of the kind named by 'starts'
%     'seed'             of random starts, default 0
%     'tolerance', 'test', 'max_iterations'   when to stop; 'test' is 'residual' (default), 'lambda' or 'step'
%     'tau', 'warmup', 'remove_isotropic'     of the iteration
%     'merge_angle', 'merge_value'            pairs closer than these (rad, relative) are one
%     'degeneracy_tolerance'                  of the classes
%     'sign'             'canonical' (default) or 'raw'
%     'compatibility'    'none' or 'tensor_toolbox', which reproduces its iteration counts
%     'full'             true adds the outcome of every start: start_values, start_vectors, start_residuals,
%                        start_iterations, start_shifts, start_status, start_violations; needs 'starts' to say how
%                        many
%     'trace'            L adds trace, lambda at the first L iterations; one tensor and one start only
%     'progress'         @(step, steps, measure) that returns true to cancel
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory; what the progress function raises.
%   A tensor that is NaN, zero or isotropic is no error: see status.
%
%   See also purlin.sshopm_all, purlin.dwi_peaks.
%
%   Example
%     A = [.2883 -.0031 .1973 -.2485 -.2939 .3847 .2972 .1862 .0919 -.3619 .1241 -.3420 .2127 .2727 -.3054]';
%     r = purlin.sshopm_solve(A, 4, 3, 'pairs', 3);
%     r.values'   % 0.8893 0.8169 0.3633
  purlin.internal.at_least(nargin, 3, 'sshopm_solve');
  names = {'goal', 'pairs', 'method', 'shift', 'starts', 'start_count', 'seed', 'tolerance', 'test', ...
           'max_iterations', 'tau', 'warmup', 'remove_isotropic', 'merge_angle', 'merge_value', ...
           'degeneracy_tolerance', 'sign', 'compatibility', 'full', 'trace', 'progress'};
  opts = purlin.internal.options(names, varargin);
  starts = [];
  if isfield(opts, 'starts')
    if ischar(opts.starts)
      opts.start_kind = opts.starts;
    elseif isscalar(opts.starts)
      opts.start_count = opts.starts;
    elseif ~isempty(opts.starts)
      starts = purlin.internal.data(opts.starts, 'starts');
      if size(starts, 1) ~= dimension
        error('purlin:invalidArgument', 'starts: has %d rows, expected dimension = %d', size(starts, 1), dimension);
      end
    end
  end
  if isfield(opts, 'shift') && isnumeric(opts.shift) && ~isempty(opts.shift)
    opts.shift_value = opts.shift;
    opts.shift = 'fixed';
  end
  result = purlin_mex('sshopm_solve', purlin.internal.data(A, 'A'), order, dimension, starts, opts);
end
