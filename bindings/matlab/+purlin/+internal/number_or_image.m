function [number, image] = number_or_image(i0)
%NUMBER_OR_IMAGE  Counts where nothing is in the way, as the gateway takes them: a number, or 0 and an image. In double
%   precision: counts of more than 24 bits are subtracted before single precision rounds them.
  number = 0;
  image = [];
  if numel(i0) == 1
    number = purlin.internal.numbers(i0, 'i0');
  else
    image = purlin.internal.numbers(i0, 'i0');
  end
end
