function z = tt_cast(x, dtype, is_complex)
%TT_CAST  A tensor train of another class.
%   z = purlin.tt_cast(x, 'single') or 'double'; purlin.tt_cast(x, 'double', true) is complex.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.TT.
%
%   Example
%     x = purlin.tt_random([2 3 4], [1 2 2 1]);
%     z = purlin.tt_cast(x, 'single');
  purlin.internal.at_least(nargin, 2, 'tt_cast');
  if nargin < 3
    is_complex = false;
  end
  z = purlin.TT(purlin_mex('tt_cast', purlin.internal.train(x), dtype, is_complex));
end
