function [V, D, info] = lanczos(A, varargin)
%LANCZOS  Some eigenvalues and eigenvectors of a symmetric or Hermitian matrix, or of a Laplacian of a graph.
%   d = purlin.lanczos(A) is a column of the 6 largest eigenvalues of the sparse matrix A, in descending order.
%   d = purlin.lanczos(A, k, which) has K of them: WHICH is 'largest', 'smallest' (ascending), 'largest_magnitude',
%   'both_ends' or 'nearest'.
%   [V, D] = purlin.lanczos(...) has A*V = V*D with D diagonal, as eigs does; columns have norm 1, and the entry of largest
%   modulus of each is positive.
%   [V, D, info] = purlin.lanczos(A, k, which, name, value, ...) also has residuals, products, restarts. Without WHICH the
%   names may follow K. Names:
%     'kind'       the operator: 'matrix' (A itself), or never formed 'laplacian' (D - A), 'normalized_laplacian',
%                  'signless_laplacian', 'normalized_adjacency', 'modularity', 'gram' (A'*A), 'outer_gram', 'augmented'
%     'shift'      added to the diagonal
%     'sigma'      where eigenvalues are looked for, with 'nearest'
%     'tolerance'  1e-10: residuals at most this times the modulus of the value
%     'basis'      vectors of the Krylov space, max(2*k + 10, 30) by default; more for crowded ends
%     'restarts'   most of them. Where they were not enough there is a warning, purlin:noConvergence
%     'verify'     'auto', 'on' or 'off': whether copies of multiple eigenvalues are looked for
%     'known'      vectors to keep out of the search, as columns
%     'start'      start vector
%     'solve'      with 'nearest': the solver of (A - sigma*I)*x = b, a struct with apply, size and dtype ('double') as for
%                  purlin.rsvd
%     'ordering'   'degree' (power-law graphs) or 'cuthill_mckee' (meshes): iterates with a copy of A in that order
%     'devices'    ordinals of further GPUs, of the kind of the one in use, that share the rows of A; info then has the
%                  most rows and entries of one, and the bytes that move between them in a product
%     'dtype'  'single': a sparse A is copied, and iterated with, in single precision
%     'check_symmetry'  true: two products are to show that A is symmetric, as for one that is known by its products
%     'seed', 'method' ('restart' or 'plain'), 'block', 'orthogonalization' ('full' or 'partial'), 'filter' ('off'
%     or 'chebyshev'), 'degree' as in the book
%     'progress'   @(converged, k, residual) that returns true to cancel
%   A real sparse A is used in place, a logical one as a pattern whose entries are 1. A may also be known by its products:
%   see purlin.rsvd, apply. These are computed with in double precision unless the struct's dtype is 'single'.
%
%   Errors: purlin:invalidArgument, purlin:numerical, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.lanczos_plan, purlin.graph_fiedler, purlin.graph_cluster, eigs.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     [V, D] = purlin.lanczos(A, 4, 'smallest', 'kind', 'laplacian', 'basis', 80);
  [k, which, options] = purlin.internal.wanted('lanczos', nargin, varargin);
  [opts, given] = purlin.internal.lanczos_inputs(options, {'dtype'});
  opts.which = which;
  if isfield(opts, 'dtype')
    purlin.internal.dtype_word(opts.dtype);
    if issparse(A)
      A = purlin.Matrix(A, 'dtype', opts.dtype);
      gone = onCleanup(@() delete(A));
    end
    opts = rmfield(opts, 'dtype');
  end
  matrix = purlin.internal.operand(A, opts);
  [d, V, residuals, info] = purlin_mex('lanczos_solve', matrix, k, opts, given{:});
  purlin.internal.solved(info, 'lanczos');
  info.residuals = residuals(1:info.count);
  d = d(1:info.count);
  if nargout < 2
    V = d;
  else
    V = V(:, 1:info.count);
    D = diag(d);
  end
end
