function starts = sshopm_starts(kind, dimension, count, seed, dtype)
%SSHOPM_STARTS  Unit start vectors.
%   starts = purlin.sshopm_starts(kind, dimension, count) is dimension-by-count. KIND is 'hemisphere' or 'sphere'
%   (Fibonacci lattices, dimension 3), 'icosahedral' (dimension 3), 'random' (uniform on the sphere) or
%   'random_cube' (uniform in the cube, normalized). From starts on half of the sphere ('hemisphere', 'icosahedral'
%   with 5 f^2 + 1 of them) the solver can miss maxima of odd orders in the other half.
%   purlin.sshopm_starts(kind, dimension, count, seed, dtype) sets the seed, default 0, and the class,
%   'double' (default) or 'single'.
%
%   Errors: purlin:invalidArgument.
%
%   Example
%     x = purlin.sshopm_starts('hemisphere', 3, 32);
  purlin.internal.at_least(nargin, 3, 'sshopm_starts');
  if nargin < 4
    seed = 0;
  end
  if nargin < 5
    dtype = 'double';
  end
  starts = purlin_mex('sshopm_starts', kind, dimension, count, seed, purlin.internal.single_class(dtype));
end
