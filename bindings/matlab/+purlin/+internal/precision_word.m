function precision_word(value)
%PRECISION_WORD  Refuses a value of the option 'precision' that is none of its words.
  if ischar(value) && ~any(strcmp(value, {'single', 'double'}))
    error('purlin:invalidArgument', 'precision: is ''%s'', expected one of single, double', value);
  elseif ~ischar(value)
    error('purlin:invalidArgument', 'precision: is of class %s, expected one of single, double', class(value));
  end
end
