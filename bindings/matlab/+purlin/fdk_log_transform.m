function [lines, clamped] = fdk_log_transform(counts, i0, dark, epsilon)
%FDK_LOG_TRANSFORM  Line integrals from raw detector counts.
%   lines = purlin.fdk_log_transform(counts, i0, dark, epsilon) is -log(max(I - dark, e) / max(i0 - dark, e)), single,
%   shaped like COUNTS, columns-by-rows-by-views of any real class. I0 is a number or an image, columns-by-rows, DARK
%   an image or [] (default), EPSILON half a count by default.
%   [lines, clamped] = ... also has how many counts were below EPSILON.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.fdk_reconstruct.
%
%   Example
%     counts = uint16(60000 * exp(-rand(64, 48, 10)));   % columns, rows, views
%     p = purlin.fdk_log_transform(counts, 60000);
  purlin.internal.at_least(nargin, 2, 'fdk_log_transform');
  if nargin < 3
    dark = [];
  end
  if nargin < 4
    epsilon = 0;
  end
  [number, image] = purlin.internal.number_or_image(i0);
  [lines, clamped] = purlin_mex('fdk_log_transform', counts, number, image, purlin.internal.numbers(dark, 'dark'), epsilon);
end
