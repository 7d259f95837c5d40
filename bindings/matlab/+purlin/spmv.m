function Y = spmv(A, X, varargin)
%SPMV  Product of a sparse matrix with one or several vectors.
%   Y = purlin.spmv(A, X) is A*X. The same A and X give the same bits, whatever the number of threads.
%   Y = purlin.spmv(A, X, 'method', name) forces a way of sharing out the rows: 'auto', 'scalar', 'vector', 'row_group',
%   'row_bin', 'merge', 'entry_split', and on GPUs 'sweeps'.
%   Y = purlin.spmv(A, X, 'ordering', name) multiplies by a copy of a square A in another order, 'degree' or 'cuthill_mckee'.
%   Y = purlin.spmv(A, X, 'kind', name) multiplies by an operator that purlin.SpmvPlan makes of A, 'laplacian' say, plus 'shift' times the
%   identity, never formed; 'degree', 'lower', 'upper' and 'dtype' are as there.
%   A logical A is a pattern whose entries are 1.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.SpmvPlan, purlin.lanczos.
%
%   Example
%     A = sprand(300, 200, 0.05);
%     y = purlin.spmv(A, ones(size(A, 2), 1), 'method', 'merge');
  purlin.internal.at_least(nargin, 2, 'spmv');
  planned = {'kind', 'shift', 'degree', 'lower', 'upper', 'dtype'};
  opts = purlin.internal.options([{'method', 'ordering'}, planned], varargin);
  if ~issparse(A) && ~isstruct(A)
    error('purlin:invalidArgument', 'A: is not sparse');
  end
  if isstruct(A) || any(isfield(opts, planned))
    plan = purlin.SpmvPlan(A, opts);
    gone = onCleanup(@() delete(plan));
    Y = apply(plan, X);
    return;
  end
  X = purlin.internal.numbers(X, 'X');
  if isreal(A) && ~isreal(X)
    Y = complex(purlin.spmv(A, real(X), varargin{:}), purlin.spmv(A, imag(X), varargin{:}));
    return;
  elseif ~isreal(A)
    X = complex(X);
  end
  % Compressed columns are the compressed rows of the transpose.
  if ~islogical(A)
    A = double(A);
  end
  Y = purlin_mex('spmv', A, X, true, opts);
end
