function H = tt_identity(modes, varargin)
%TT_IDENTITY  The identity as a purlin.TTMatrix.
%   H = purlin.tt_identity(modes) has the mode sizes MODES. Names: 'dtype' 'double' or 'single', 'complex'.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.TTMatrix.
%
%   Example
%     H = purlin.tt_identity([2 2 3]);
  purlin.internal.at_least(nargin, 1, 'tt_identity');
  opts = purlin.internal.options({'dtype', 'complex'}, varargin);
  H = purlin.TTMatrix(purlin_mex('tt_identity', purlin.internal.numbers(modes, 'modes'), opts));
end
