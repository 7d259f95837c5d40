function list = codes()
%CODES  The numbers that results hold, by name.
%   list = purlin.codes() is a struct with the fields
%     PAIR_...    classes of pairs: NEGATIVE_STABLE (local maximum), POSITIVE_STABLE (local minimum), UNSTABLE
%                 (saddle), DEGENERATE, UNCLASSIFIED, NONE (a place beyond the count)
%     TENSOR_...  status of a tensor or voxel: OK, NONFINITE, ZERO, ISOTROPIC, MASKED, NO_PAIR, SIGNAL, CLAMPED,
%                 INCOMPLETE, DEGENERATE, PARTIAL
%     START_...   status of a start: CONVERGED, MAX_ITERATIONS, ZERO_VECTOR, NONFINITE, SINGULAR
%
%   Example
%     c = purlin.codes();
%     pairs = purlin.sshopm_solve(rand(15, 1), 4, 3, 'pairs', 5);
%     minima = pairs.classes == c.PAIR_POSITIVE_STABLE;
  list = purlin_mex('codes');
end
