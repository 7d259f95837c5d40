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
%     W = purlin.symmetrise(directed, 'union');
  if nargin < 2
    how = 'union';
  end
  [rows, cols, values, m, n] = purlin_mex('symmetrise', purlin.internal.matrix(A, 'A'), how);
  S = sparse(rows, cols, double(values), m, n);
end
