function [off, energy] = trains(picture, sites)
%TRAINS  The ground state of a chain of spins as a tensor train, and its correlations.
%   trains() minimizes the energy of the Ising chain H = -sum sx sx - sum sz of 24 spins over tensor trains, and compares it
%   with that of free fermions. It writes trains.png: the correlation <sx sx> of each pair of spins.
%   trains(picture, sites) names the picture and sets the number of spins.
%   off = trains(..) is the relative error of the energy, [off, energy] = .. also the energy.
%
%   Each step takes the best combination of the train, its residual and the step before (LOBPCG of Knyazev, SIAM J. Sci. Comput.
%   23, 2001), and rounds it to the rank 16. No vector of 2^24 numbers is made.
  if nargin < 1
    picture = 'trains.png';
  end
  if nargin < 2
    sites = 24;
  end
  where = purlin.context_info();
  fprintf('purlin on %s\n', where.device_name);
  H = purlin.tt_ising(sites, 1, 1);
  exact = 1 - 1 / sin(pi / (2 * (2 * sites + 1)));
  % All spins up, and a little noise: a product state alone has symmetries that the steps would keep.
  x = purlin.tt_product_state(repmat({[1; 0.3]}, 1, sites));
  x = unit(x);
  last = [];
  fprintf('  step   energy per spin      error\n');
  for step = 1:80
    energy = purlin.tt_rayleigh(H, x);
    if mod(step, 10) == 0
      fprintf('  %4d   %16.12f   %.1e\n', step, energy / sites, (energy - exact) / abs(exact));
    end
    image = purlin.tt_apply(H, x, 'epsilon', 1e-7, 'max_rank', 32);
    residual = purlin.tt_round(purlin.tt_add(image, x, 1, -energy), 'epsilon', 1e-5, 'max_rank', 16);
    space = {x, unit(residual)};
    if ~isempty(last)
      space{3} = last;
    end
    c = lowest(purlin.tt_gram(space), H, space);
    change = purlin.tt_scale(space{2}, c(2));
    if ~isempty(last)
      change = purlin.tt_add(change, last, 1, c(3));
    end
    last = unit(purlin.tt_round(change, 'epsilon', 1e-6, 'max_rank', 16));
    x = unit(purlin.tt_round(purlin.tt_add(x, change, c(1), 1), 'epsilon', 1e-8, 'max_rank', 16));
  end
  off = abs(energy - exact) / abs(exact);
  fprintf('  free fermions %14.12f\n', exact / sites);
  shape = describe(x);
  fprintf('  ranks %s\n', sprintf(' %d', shape.ranks));

  C = purlin.tt_correlation(x, [0 1; 1 0], [0 1; 1 0]);
  fprintf('  <sx sx> of neighbours in the middle %.4f, of the ends %.4f\n', C(sites / 2, sites / 2 + 1), C(1, sites));
  level = (double(C) - min(C(:))) / (max(C(:)) - min(C(:)));
  level = repelem(level, ceil(480 / sites), ceil(480 / sites));
  imwrite(uint8(255 * cat(3, 1 - level, 1 - 0.6 * level, 1 - 0.2 * level)), picture);
  fprintf('  %s\n', picture);
end

function x = unit(x)
  x = purlin.tt_scale(x, 1 / purlin.tt_norm(x));
end

function c = lowest(G, H, space)
% The combination of the trains with the lowest energy.
  n = numel(space);
  E = zeros(n);
  for i = 1:n
    for j = i:n
      E(i, j) = purlin.tt_sandwich(space{i}, H, space{j});
      E(j, i) = E(i, j);
    end
  end
  [V, D] = eig((E + E') / 2, (G + G') / 2);
  [~, at] = min(diag(D));
  c = V(:, at) / sign(V(1, at));
end
