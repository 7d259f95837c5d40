function [number, image] = number_or_image(i0)
%NUMBER_OR_IMAGE  Counts where nothing is in the way, as the gateway takes them: a number, or 0 and an image.
  number = 0;
  image = single([]);
  if numel(i0) == 1
    number = double(i0);
  else
    image = single(i0);
  end
end
