function [complete, pairs] = eigenpairs(picture)
%EIGENPAIRS  All eigenpairs of a symmetric tensor, and where they are on the sphere.
%   eigenpairs() finds the eigenpairs A x^3 = lambda x, |x| = 1, of the tensor in Table 3.1 of Kolda and Mayo (2011): the
%   stationary points of the quartic form A x^4 on the sphere. It prints them and writes eigenpairs.png: the form on the upper
%   half of the sphere, seen from above, with maxima red, minima blue and saddles white.
%   eigenpairs(picture) names the picture.
%   [complete, pairs] = eigenpairs(..) is true if the Morse sum says that no pair is missing; PAIRS is the result of
%   purlin.sshopm_solve_all.
  if nargin < 1
    picture = 'eigenpairs.png';
  end
  % The distinct entries a1111, a1112, a1113, a1122, ..: indices that do not fall.
  A = [.2883 -.0031 .1973 -.2485 -.2939 .3847 .2972 .1862 .0919 -.3619 .1241 -.3420 .2127 .2727 -.3054]';
  where = purlin.context_info();
  fprintf('purlin on %s\n', where.device_name);
  pairs = purlin.sshopm_solve_all(A, 4, 3);
  complete = pairs.morse_sum == pairs.morse_expected;
  count = double(pairs.count);
  code = purlin.codes();
  kinds = {'maximum', code.PAIR_NEGATIVE_STABLE, [220 40 40]; 'minimum', code.PAIR_POSITIVE_STABLE, [40 80 220]; 'saddle', code.PAIR_UNSTABLE, [255 255 255]};
  fprintf('  %8s  %-27s %s\n', 'lambda', 'x', '');
  for k = 1:count
    kind = find([kinds{:, 2}] == pairs.classes(k));
    fprintf('  %8.4f  %8.4f %8.4f %8.4f  %s\n', pairs.values(k), pairs.vectors(:, k), kinds{kind, 1});
  end
  fprintf('  Morse sum %d, of a complete set %d\n', pairs.morse_sum, pairs.morse_expected);
  fprintf('  largest residual %.1e\n', max(pairs.residuals(1:count)));

  % The form on the half sphere: each multiset of indices counts as often as it occurs in the full tensor.
  side = 480;
  [x, y] = meshgrid(linspace(-1.05, 1.05, side), linspace(1.05, -1.05, side));
  z = sqrt(max(1 - x .^ 2 - y .^ 2, 0));
  exponents = double(purlin.symmetric_exponents(4, 3));
  weights = double(purlin.symmetric_multinomials(4, 3));
  form = zeros(side);
  for k = 1:numel(A)
    form = form + weights(k) * A(k) * x .^ exponents(1, k) .* y .^ exponents(2, k) .* z .^ exponents(3, k);
  end
  level = (form + 1.1) / 2;
  % Lines of equal height every tenth.
  level = level - 0.12 * (abs(form * 10 - round(form * 10)) < 0.12);
  outside = x .^ 2 + y .^ 2 > 1;
  level(outside) = 1;
  image = uint8(255 * cat(3, level, 0.85 * level + 0.1, 1 - 0.6 * level));
  image(repmat(outside, [1 1 3])) = 255;
  for k = 1:count
    v = pairs.vectors(:, k);
    % A x^4 has the same value at -x.
    v = v * sign(v(3) + (v(3) == 0));
    kind = find([kinds{:, 2}] == pairs.classes(k));
    far = (x - v(1)) .^ 2 + (y - v(2)) .^ 2;
    image = paint(image, far < 0.032 ^ 2, [0 0 0]);
    image = paint(image, far < 0.025 ^ 2, kinds{kind, 3});
  end
  imwrite(image, picture);
  fprintf('  %s\n', picture);
end

function image = paint(image, where, colour)
  for k = 1:3
    plane = image(:, :, k);
    plane(where) = colour(k);
    image(:, :, k) = plane;
  end
end
