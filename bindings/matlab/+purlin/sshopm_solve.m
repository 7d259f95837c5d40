function result = sshopm_solve(A, order, dimension, varargin)
%SSHOPM_SOLVE  Local maxima and minima of A x^m on the unit sphere: Z-eigenpairs of symmetric tensors.
%   result = purlin.sshopm_solve(A, order, dimension) finds pairs A x^(m-1) = lambda x, |x| = 1, from many starts,
%   for every tensor of A: U-by-T packed lexicographic entries (or U-by-any further extents; results then have the
%   same further extents), double or single, or a symmetric purlin.Tensor.
%
%   RESULT is a struct; K is the option 'pairs' and T the number of tensors:
%     count      1-by-T       pairs listed (int32); the places beyond hold NaN, PAIR_NONE in classes, 0 in basins
%     found      1-by-T       pairs found (int32): more than count where K is too small for all of them
%     values     K-by-T       sorted: maxima descending, minima ascending. Odd order: a maximum (lambda, x) is the
%                             minimum (-lambda, -x); 'maxima' lists it as the one, 'minima' as the other, 'both' once,
%                             with lambda >= 0
%     vectors    n-by-K-by-T  unit vectors
%     residuals  K-by-T       |A x^(m-1) - lambda x|
%     classes    K-by-T       int32, see purlin.codes
%     hessian    (n-1)-by-K-by-T  eigenvalues of the projected Hessian, ascending
%     basins     K-by-T       int32, starts that ended in the pair
%     status     1-by-T       int32, see purlin.codes
%     info       totals: iterations, converged_starts, truncated_tensors (with more pairs than were listed),
%                unconverged_tensors (with a start that did not converge), seconds, ..
%   Saddles are never found by it: see purlin.sshopm_solve_all.
%
%   purlin.sshopm_solve(..., name, value, ...) or (..., struct):
%     'goal'             'maxima' (default), 'minima' or 'both' (maxima, then minima)
%     'pairs'            K, pairs listed for each tensor, default 8
%     'method'           'hybrid' (safeguarded Newton, default) or 'power'
%     'shift_kind'       'adaptive' (default), 'guaranteed' or 'fixed'
%     'shift'            the fixed shift, negative for minima; the kind is then 'fixed'
%     'starts'           how many, or an n-by-V array of the class of A
%     'start_kind'       'auto' (default), 'fibonacci_hemisphere', 'fibonacci_sphere', 'icosahedral', 'random' or
%                        'random_cube'. Starts on half of the sphere (fibonacci_hemisphere, icosahedral with
%                        5 f^2 + 1 starts) can miss maxima of odd orders in the other half
%     'seed'             of random starts, default 0; refused with others
%     'tolerance'        when to stop; 0 for that of the class
%     'test'             the measure that 'tolerance' bounds: 'residual' (default), 'lambda' or 'step'
%     'max_iterations'   of a start; 0, the default, is 500
%     'tau', 'warmup'    of the iteration
%     'remove_isotropic' true (default): iterate without the isotropic part of A
%     'merge_angle', 'merge_value'            pairs closer than these (rad, relative) are one
%     'degeneracy_tolerance'                  of the classes
%     'sign'             'canonical' (default) or 'raw'
%     'compatibility'    'none' (default) or 'tensor_toolbox', which reproduces its iteration counts
%     'full'             true adds the outcome of every start: start_values, start_vectors, start_residuals,
%                        start_iterations, start_shifts, start_status, start_violations; needs 'starts' to say how
%                        many, and another goal than 'both', with which a start has two ends
%     'trace'            L adds trace, lambda at the first L iterations; one tensor and one start only
%     'progress'         @(step, steps, measure) that returns true to cancel
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory; an error of the progress function.
%   A tensor that is NaN, zero or isotropic is no error: see status. Options have the names and defaults of the Python
%   package. Older forms remain: 'shift' with the name of a kind, 'starts' with the name of a start kind (also
%   'hemisphere', 'sphere'), 'start_count'.
%
%   See also purlin.sshopm_solve_all, purlin.dwi_peaks.
%
%   Example
%     A = [.2883 -.0031 .1973 -.2485 -.2939 .3847 .2972 .1862 .0919 -.3619 .1241 -.3420 .2127 .2727 -.3054]';
%     r = purlin.sshopm_solve(A, 4, 3, 'pairs', 3);
%     r.values'   % 0.8893 0.8169 0.3633
  purlin.internal.at_least(nargin, 3, 'sshopm_solve');
  names = [purlin.internal.option_names('sshopm'), ...
           {'pairs', 'starts', 'start_count', 'full', 'trace', 'progress'}];
  opts = purlin.internal.options(names, varargin);
  starts = [];
  if isfield(opts, 'starts') && ~isscalar(opts.starts)
    given = opts.starts;
    opts = rmfield(opts, 'starts');
    if ischar(given)
      opts.start_kind = given;
    elseif ~isempty(given)
      starts = purlin.internal.data(given, 'starts');
      purlin.internal.whole(dimension, 'dimension', 0);
      if size(starts, 1) ~= dimension
        error('purlin:invalidArgument', 'starts: has %d rows, expected dimension = %d', size(starts, 1), dimension);
      end
    end
  end
  if isfield(opts, 'start_count')
    % The field stays, so that the gateway calls it by this name.
    purlin.internal.whole(opts.start_count, 'start_count', 0);
    opts.starts = opts.start_count;
  end
  if isfield(opts, 'shift')
    if ischar(opts.shift)
      opts.shift_kind = opts.shift;
      opts = rmfield(opts, 'shift');
    elseif ~isempty(opts.shift) && ~isfield(opts, 'shift_kind')
      opts.shift_kind = 'fixed';
    end
  end
  result = purlin_mex('sshopm_solve', purlin.internal.data(A, 'A'), order, dimension, starts, opts);
end
