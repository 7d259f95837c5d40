function [L, S, info] = rpca(M, varargin)
%RPCA  A matrix as the sum of one of low rank and a sparse one: robust principal component analysis.
%   [L, S] = purlin.rpca(M) minimizes the nuclear norm of L plus lambda times the sum of the moduli of S subject to
%   L + S = M, by the inexact augmented Lagrangian method: of a video with a frame a column, L is the background and
%   S the moving foreground.
%   [L, S, info] = purlin.rpca(M, name, value, ...) also has iterations, rank, residual, objective. Names:
%     'lambda'          1/sqrt(max(size(M))) by default
%     'tolerance'       1e-7: where norm(M - L - S, 'fro') / norm(M, 'fro') is small enough
%     'max_iterations'  1000. Where they were not enough there is a warning, purlin:noConvergence, and info.converged
%                       is 0
%     'scale'           1: the factor of entries as they are read, 1/255 for bytes that mean 0 to 1
%     'mask'            logical or uint8, like M: false where an entry was not observed
%     'sparse'          true gives S as a sparse matrix of the entries over 'threshold' (0)
%     'max_rank', 'fixed_rank', 'mu', 'rho', 'power_iterations', 'oversampling', 'warm_start', 'seed', 'block_rows',
%     'frames' ('columns' or 'rows', of a square M), 'dtype' ('single' or 'double') as in the book
%     'low_rank', 'sparse'  names of .mha or .mhd files, or structs that describe raw files or have a function, as
%                       'output' of purlin.fdk_reconstruct, which take L and S: for an M that does not fit in memory.
%                       L and S are then empty; their dtype is 'single' unless the struct says otherwise
%     'devices'         ordinals of further GPUs, of the kind of the one in use, that share the rows of M, or its
%                       columns where there are more
%     'progress'        @(iteration, iterations, residual) that returns true to cancel
%   M is anything that purlin.rsvd takes but a sparse matrix.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:io, purlin:outOfMemory.
%
%   See also purlin.rpca_plan, purlin.rsvd, purlin.pca.
%
%   Example
%     frames = uint8(repmat(200 * rand(300, 1), 1, 40));   % a frame a column
%     frames(5 + 300 * (0:39)) = 255;
%     [background, moving] = purlin.rpca(frames, 'scale', 1 / 255);
  purlin.internal.at_least(nargin, 1, 'rpca');
  [opts, mask] = purlin.internal.rpca_options(varargin, {'low_rank', 'sparse'});
  given = purlin.internal.matrix(M, 'M');
  files = {[], []};
  ends = {'low_rank', 'sparse'};
  csr = isfield(opts, 'sparse') && (islogical(opts.sparse) || isnumeric(opts.sparse));
  if csr && ~(isreal(opts.sparse) && numel(opts.sparse) == 1 && (opts.sparse == 0 || opts.sparse == 1))
    error('purlin:invalidArgument', 'sparse: is neither true nor false, nor a file or a function');
  end
  for n = 1:2
    if isfield(opts, ends{n}) && ~(n == 2 && csr)
      files{n} = purlin.internal.wrapped(opts.(ends{n}));
    end
  end
  csr = csr && opts.sparse;
  if csr && ~isempty(files{1})
    error('purlin:invalidArgument', 'sparse: is true beside low_rank, a file or a function is needed');
  end
  if ~isempty(files{1}) || ~isempty(files{2})
    info = purlin_mex('rpca_compute_to_sinks', given, mask, opts, files{:});
    L = [];
    S = [];
  elseif csr
    [rows, cols, values, m, n, L, info] = purlin_mex('rpca_compute_csr', given, mask, opts);
    S = sparse(rows, cols, double(values), m, n);
  else
    [L, S, info] = purlin_mex('rpca_compute', given, mask, opts);
  end
  if ~info.converged
    warning('purlin:noConvergence', 'purlin.rpca: residual %g after %d iterations', info.residual, info.iterations);
  end
end
