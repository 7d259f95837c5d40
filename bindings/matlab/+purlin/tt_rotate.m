function z = tt_rotate(x, first)
%TT_ROTATE  A ring that begins with another core.
%   z = purlin.tt_rotate(x, first) is a purlin.TT that begins with core FIRST.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_reverse.
%
%   Example
%     z = purlin.tt_rotate({rand(2, 2, 3), rand(3, 2, 2)}, 2);
  purlin.internal.at_least(nargin, 2, 'tt_rotate');
  z = purlin.TT(purlin_mex('tt_rotate', purlin.internal.train(x), first));
end
