function Y = spmv(A, X, varargin)
%SPMV  Product of a sparse matrix with one or several vectors.
%   Y = purlin.spmv(A, X) is A*X. The same A and X give the same bits, whatever the number of threads.
%   Y = purlin.spmv(A, X, 'algorithm', name) forces a way of sharing out the rows: 'auto', 'scalar', 'vector', 'row_group',
%   'row_bin', 'merge', 'entry_split', and on GPUs 'sweeps'.
%   Y = purlin.spmv(A, X, 'order', name) multiplies by a copy of a square A in another order, 'degree' or 'cuthill_mckee'.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.lanczos.
%
%   Example
%     y = purlin.spmv(A, ones(size(A, 2), 1), 'algorithm', 'merge');
  opts = purlin.internal.options({'algorithm', 'order'}, varargin);
  if ~issparse(A)
    error('purlin:invalidArgument', 'A: is not sparse');
  end
  X = double(X);
  if isreal(A) && ~isreal(X)
    Y = complex(purlin.spmv(A, real(X), varargin{:}), purlin.spmv(A, imag(X), varargin{:}));
    return;
  elseif ~isreal(A)
    X = complex(X);
  end
  % Compressed columns are the compressed rows of the transpose.
  Y = purlin_mex('spmv', double(A), X, true, opts);
end
