function multinomials = symmetric_multinomials(order, dimension)
%SYMMETRIC_MULTINOMIALS  How often the packed entries occur in the full tensor.
%   multinomials = purlin.symmetric_multinomials(order, dimension) is 1-by-U: m!/(k1!..kn!) of every packed entry.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.symmetric_convert.
%
%   Example
%     purlin.symmetric_multinomials(3, 2)   % [1 3 3 1]
  purlin.internal.at_least(nargin, 2, 'symmetric_multinomials');
  purlin.internal.whole(order, 'order', 2);
  purlin.internal.whole(dimension, 'dimension', 1);
  multinomials = purlin_mex('symmetric_multinomials', order, dimension);
end
