function validate(value, classes, attributes, name)
%VALIDATE  validateattributes with an error of the package, in one line.
  try
    validateattributes(value, classes, attributes, 'purlin', name);
  catch caught
    error('purlin:invalidArgument', '%s', regexprep(caught.message, '\s+', ' '));
  end
end
