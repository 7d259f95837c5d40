function converted = symmetric_convert(packed, order, dimension, from, to)
%SYMMETRIC_CONVERT  Entries of a tensor to coefficients of its polynomial, or back.
%   converted = purlin.symmetric_convert(packed, order, dimension, from, to) where FROM and TO are 'entries' or
%   'polynomial': the coefficient of a monomial is its entry times the multinomial. PACKED is U-by-T (or U-by-any
%   further extents), double or single, as is the result.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.symmetric_multinomials.
%
%   Example
%     purlin.symmetric_convert([1; 1; 1], 2, 2, 'entries', 'polynomial')   % [1; 2; 1]
  purlin.internal.at_least(nargin, 5, 'symmetric_convert');
  converted = purlin_mex('symmetric_convert', purlin.internal.data(packed, 'packed'), order, dimension, from, to);
end
