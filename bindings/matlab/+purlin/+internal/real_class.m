function array = real_class(array)
%REAL_CLASS  An array of class single as it is, any other in class double.
  if ~isa(array, 'single')
    array = double(array);
  end
end
