function count = live_handles()
%LIVE_HANDLES  Number of objects of the library that are alive.
%   count = purlin.live_handles() counts the context, once it exists, and every purlin.Tensor and purlin.Matrix.
%
%   See also purlin.release.
%
%   Example
%     purlin.live_handles()
  count = purlin_mex('live_handles');
end
