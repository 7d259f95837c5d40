function image = draw_lines(image, from, to, colours, width)
%DRAW_LINES  Paints straight lines into an image of rows-by-columns-by-3 numbers from 0 to 255.
%   FROM and TO are 2-by-N: column and row of the ends, in pixels. COLOURS is 3-by-N, and WIDTH is in pixels.
  [rows, columns, ~] = size(image);
  plane = rows * columns;
  [down, across] = ndgrid(-floor(width / 2):ceil(width / 2) - 1);
  for k = 1:size(from, 2)
    steps = (0:1 / max(1, ceil(max(abs(to(:, k) - from(:, k))))):1)';
    x = round(bsxfun(@plus, from(1, k) + steps * (to(1, k) - from(1, k)), across(:)'));
    y = round(bsxfun(@plus, from(2, k) + steps * (to(2, k) - from(2, k)), down(:)'));
    inside = x >= 1 & x <= columns & y >= 1 & y <= rows;
    at = y(inside) + rows * (x(inside) - 1);
    for c = 1:3
      image(at + (c - 1) * plane) = colours(c, k);
    end
  end
end
