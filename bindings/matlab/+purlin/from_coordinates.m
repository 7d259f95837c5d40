function A = from_coordinates(i, j, values, m, n, duplicates)
%FROM_COORDINATES  A sparse matrix from its entries, with a rule for several entries at one place.
%   A = purlin.from_coordinates(i, j, values, m, n, duplicates) is sparse(i, j, values, m, n) where DUPLICATES is 'sum' (the
%   default); 'first', 'last' and 'max' (by modulus if complex) keep one of them, 'refuse' is an error that names two.
%   An empty VALUES stands for ones.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also sparse, purlin.read_edges.
%
%   Example
%     A = purlin.from_coordinates([1, 1, 2], [2, 2, 1], [5, 7, 3], 2, 2, 'max');
  purlin.internal.at_least(nargin, 5, 'from_coordinates');
  if nargin < 6
    duplicates = 'sum';
  end
  if islogical(values)
    values = double(values);
  end
  [rows, cols, values, m, n] = purlin_mex('from_coordinates', i, j, values, m, n, duplicates);
  A = sparse(rows, cols, double(values), m, n);
end
