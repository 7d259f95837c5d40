function S = symmetrize(A, rule)
%SYMMETRIZE  A symmetric matrix from a square sparse one.
%   S = purlin.symmetrize(A, rule) with RULE 'union' (entries of A or A', the larger of both; the default), 'sum', 'average',
%   'intersection' (entries of both, the smaller) or 'mirror' (A holds one triangle).
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.lanczos.
%
%   Example
%     directed = sprand(100, 100, 0.05);
%     W = purlin.symmetrize(directed, 'union');
  purlin.internal.at_least(nargin, 1, 'symmetrize');
  if nargin < 2
    rule = 'union';
  end
  [rows, cols, values, m, n] = purlin_mex('symmetrize', purlin.internal.matrix(A, 'A'), rule);
  S = sparse(rows, cols, double(values), m, n);
end
