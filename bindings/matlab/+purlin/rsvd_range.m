function [Q, B, info] = rsvd_range(A, columns, varargin)
%RSVD_RANGE  An orthonormal basis that nearly spans the range of a matrix.
%   Q = purlin.rsvd_range(A, columns) has orthonormal columns with A ~ Q*(Q'*A).
%   [Q, B] = ... also has B = Q'*A, which costs less than the product afterwards.
%   [Q, B, info] = purlin.rsvd_range(A, columns, name, value, ...) takes the names of purlin.rsvd, but of
%   'method' 'auto' and 'range' alone, of 'error' 'identity' and 'none', and neither 'sign' nor 'smallest_ratio'.
%
%   Errors: as purlin.rsvd.
%
%   See also purlin.rsvd.
%
%   Example
%     A = randn(200, 30) * randn(30, 100);
%     Q = purlin.rsvd_range(A, 30);
  purlin.internal.at_least(nargin, 2, 'rsvd_range');
  opts = purlin.internal.rsvd_options(varargin, {'center', 'scale'});
  purlin.internal.whole(columns, 'columns', 1);
  given = purlin.internal.matrix(A, 'A');
  if nargout < 2
    Q = purlin_mex('rsvd_range', given, columns, opts);
  else
    [Q, B, info] = purlin_mex('rsvd_range', given, columns, opts);
  end
end
