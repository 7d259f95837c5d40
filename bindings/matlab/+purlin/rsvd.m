function varargout = rsvd(A, k, varargin)
%RSVD  The largest singular values and vectors of a matrix, by random projection.
%   s = purlin.rsvd(A, k) is a column of the K largest singular values.
%   [U, S, V] = purlin.rsvd(A, k) has A ~ U*S*V' with S diagonal, as svds does.
%   [U, S, V, info] = purlin.rsvd(A, k, name, value, ...) also has the report: method and why, passes, bytes,
%   seconds, errors.
%
%   A is
%     a full matrix of any class, real or complex, used where it lies; int32 and uint32 are computed with in double, shorter
%     integers in single
%     a sparse matrix, or a purlin.Matrix, which may lie on the GPU
%     the name of an .npy file, or of a stack of images (.mha, .mhd, .tif), an image a column; or a struct that describes
%     a raw file: file, size ([rows cols]; or, with order 'rows', [cols rows]), dtype ('single'), offset (0), endianness
%     ('little'), complex (false), order ('columns' or 'rows'). None of them need fit in
%     memory
%     a struct with a function: read, size, dtype ('double'), complex, order as of a raw file. block = read(first, count)
%     returns the COUNT elements from FIRST on, in the size's order; each pass asks for each block
%     a struct with the products: apply, size ([rows cols]), dtype ('double'), complex. Y = apply(X, adjoint) is A*X or,
%     if ADJOINT is true, A'*X
%     The result of a function is converted to its dtype, which is computed with: doubles are rounded where that is
%     'single'; integers that the dtype does not hold, fractions where it is one of integers, and overflow are refused
%   Names:
%     'tolerance'         go on until ||A - U*S*V'||_F is this part of ||A||_F; K is then [], and 'max_rank' the most;
%                         if those do not do there is a warning, purlin:noConvergence
%     'power_iterations'  2; -1 chooses. 'oversampling' 10; -1 chooses. 'seed' 0
%     'method'            'auto' (default), 'range', 'fused', 'merge', 'krylov', 'gram', 'direct', 'one_pass', and as
%                         published 'basic', 'fifo', 'row_fused', 'brsvd'
%     'dtype'             'single' or 'double': the precision of the computation
%     'center', 'scale'   'columns' or 'rows': subtract their means, without a copy; true: divide by deviations too
%     'error'             'identity' (default), 'probes' (one more pass), 'power' (11 more, the spectral norm too), 'none'
%     'sign'              'v_max' (default): the largest entry of each right vector is positive; 'u_max', 'none'
%     'iteration_precision'  'full' (default), 'fast': iterations on a GPU in fewer digits, the factors in all
%     'sketch'            'gaussian' (default), 'uniform', 'rademacher', 'sparse_sign'; 'omega': a sketch of your own
%     'restart_path'      a file that is written after each pass but the last and read by a run that goes on
%     'read_rate'         bytes a second of a slow file or function, which 'auto' then reads in fewer passes
%     'devices'           further GPUs, by number, that the rows are shared out over
%     'smallest_ratio', 'block_rows', 'resident_rows', 'merge_width', 'block_columns', 'one_pass', 'probes',
%     'orthonormalization' as in the book
%     'progress'          @(step, steps, measure) that returns true to cancel; steps are blocks of all passes
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:io, purlin:outOfMemory, purlin:numerical.
%
%   See also purlin.rsvd_plan, purlin.rsvd_error, purlin.pca, purlin.rpca, svds.
%
%   Example
%     A = randn(500, 20) * randn(20, 300);
%     [U, S, V] = purlin.rsvd(A, 20);
%     name = tempname();
%     file = fopen(name, 'w');
%     fwrite(file, A, 'double');
%     fclose(file);
%     described = struct('file', name, 'size', [500 300], 'dtype', 'double');
%     [U, S, V, info] = purlin.rsvd(described, [], 'tolerance', 1e-2);
%     delete(name);
  purlin.internal.at_least(nargin, 2, 'rsvd');
  opts = purlin.internal.rsvd_options(varargin, {'center', 'scale'});
  given = purlin.internal.matrix(A, 'A');
  k = purlin.internal.rank_of(k, 'k');
  vectors = nargout > 1;
  [s, U, V, info] = purlin_mex('rsvd_compute', given, k, opts, vectors, nargout > 2);
  if ~info.converged
    warning('purlin:noConvergence', 'purlin.rsvd: relative error %g at rank %d', info.error_relative, info.rank);
  end
  r = min(numel(s), info.rank);
  if ~vectors
    varargout = {s(1:r)};
    return;
  end
  varargout = {U(:, 1:r), diag(s(1:r)), [], info};
  if nargout > 2
    varargout{3} = V(:, 1:r);
  end
  varargout = varargout(1:nargout);
end
