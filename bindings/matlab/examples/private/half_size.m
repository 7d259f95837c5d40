function image = half_size(image)
%HALF_SIZE  Means of two by two pixels as uint8, so that the edges of lines are smooth.
  image = (image(1:2:end, :, :) + image(2:2:end, :, :)) / 2;
  image = uint8((image(:, 1:2:end, :) + image(:, 2:2:end, :)) / 2);
end
