function B = scale(A, rows, cols)
%SCALE  Rows and columns of a sparse matrix multiplied by numbers.
%   B = purlin.scale(A, rows, cols) is diag(rows)*A*diag(cols); an empty list stands for ones. A is sparse or a purlin.Matrix, and
%   B is sparse. Entries that become 0 go, as everywhere in sparse arrays.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.symmetrize, purlin.SpmvPlan.
%
%   Example
%     W = sparse(kron(eye(2), ones(20)) - eye(40));   % two groups, and one edge between them
%     W(20, 21) = 1;
%     W(21, 20) = 1;
%     P = purlin.scale(W, 1 ./ sum(W, 2), []);   % rows that sum to 1
  purlin.internal.at_least(nargin, 2, 'scale');
  if nargin < 3
    cols = [];
  end
  type = 'double';
  if isa(A, 'purlin.Matrix')
    found = describe(A);
    is_complex = found.complex;
    type = found.dtype;
  else
    is_complex = ~isreal(A);
  end
  lists = {full(purlin.internal.numbers(rows, 'rows', type)), full(purlin.internal.numbers(cols, 'cols', type))};
  if is_complex
    lists = cellfun(@complex, lists, 'UniformOutput', false);
  elseif ~isreal(lists{1})
    B = purlin.scale(A, real(lists{1}), cols) + 1i * purlin.scale(A, imag(lists{1}), cols);
    return;
  elseif ~isreal(lists{2})
    B = purlin.scale(A, rows, real(lists{2})) + 1i * purlin.scale(A, rows, imag(lists{2}));
    return;
  end
  [i, j, v, m, n] = purlin_mex('matrix_scale', purlin.internal.matrix(A, 'A'), lists{:});
  B = sparse(i, j, double(v), m, n);
end
