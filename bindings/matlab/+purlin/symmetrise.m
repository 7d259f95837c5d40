function S = symmetrise(A, how)
%SYMMETRISE  A symmetric matrix from a square sparse one.
%   S = purlin.symmetrise(A, how) with HOW 'union' (entries of A or A', the larger of both; the default), 'sum', 'average',
%   'intersection' (entries of both, the smaller) or 'mirror' (A holds one triangle).
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.lanczos.
%
%   Example
%     directed = sprand(100, 100, 0.05);
%     W = purlin.symmetrise(directed, 'union');
  purlin.internal.at_least(nargin, 1, 'symmetrise');
  if nargin < 2
    how = 'union';
  end
  [rows, cols, values, m, n] = purlin_mex('symmetrise', purlin.internal.matrix(A, 'A'), how);
  S = sparse(rows, cols, double(values), m, n);
end
