function varargout = lanczos_singular(A, varargin)
%LANCZOS_SINGULAR  Some singular values and vectors of a sparse matrix, to full accuracy.
%   s = purlin.lanczos_singular(A) is a column of the 6 largest singular values of A.
%   s = purlin.lanczos_singular(A, k, which) has K of them: WHICH is 'largest' or 'smallest' (ascending).
%   [U, S, V] = purlin.lanczos_singular(...) has A*V = U*S with S diagonal, as svds does; the columns of U and V are orthonormal.
%   [U, S, V, info] = purlin.lanczos_singular(A, k, which, name, value, ...) also has residuals, products, restarts. Names:
%     'kind'   the first method: 'matrix' (default), A'*A or A*A', whichever is smaller, for the largest values; 'gram',
%              that for the smallest too; or 'augmented', [0 A; A' 0], for the largest alone. Golub-Kahan-Lanczos follows
%              where the residuals are too large, and takes the smallest values of 'matrix': all are accurate to eps*norm(A)
%     'start'  start vector, min(size(A)) elements of the class of A, also real ones if A is complex: of V if A has
%              no more columns than rows, else of U
%     'tolerance', 'basis', 'restarts', 'verify', 'seed', 'method', 'block', 'orthogonalization', 'filter', 'degree',
%     'progress'  as of purlin.lanczos
%   A is sparse, or known by its products: see purlin.rsvd.
%
%   Errors: as purlin.lanczos.
%
%   See also purlin.lanczos_plan_singular, purlin.lanczos, purlin.rsvd, svds.
%
%   Example
%     A = sprand(300, 200, 0.05);
%     [U, S, V] = purlin.lanczos_singular(A, 4);
  [k, which, options] = purlin.internal.wanted('lanczos_singular', nargin, varargin);
  opts = purlin.internal.lanczos_options(options, {'kind', 'start'});
  start = [];
  if isfield(opts, 'start')
    start = opts.start;
    opts = rmfield(opts, 'start');
  end
  opts.which = which;
  if isnumeric(A) && ~issparse(A)
    A = sparse(double(A));
  end
  [s, U, V, residuals, info] = purlin_mex('lanczos_singular', purlin.internal.matrix(A, 'A'), k, opts, start, ...
                                                double(nargout > 1));
  purlin.internal.solved(info, 'lanczos_singular');
  n = 1:info.count;
  info.residuals = residuals(n);
  if nargout < 2
    varargout = {s(n)};
  else
    varargout = {U(:, n), diag(s(n)), V(:, n), info};
    varargout = varargout(1:nargout);
  end
end
