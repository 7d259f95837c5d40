function array = real_class(array, name)
%REAL_CLASS  An array of class single as it is, any other in class double.
  if ~isa(array, 'single')
    array = purlin.internal.numbers(array, name);
  end
end
