function dtype_word(value)
%DTYPE_WORD  Refuses a dtype that is none of its words.
  if ischar(value) && ~any(strcmp(value, {'single', 'double'}))
    error('purlin:invalidArgument', 'dtype: is ''%s'', expected one of single, double', value);
  elseif ~ischar(value)
    error('purlin:invalidArgument', 'dtype: is of class %s, expected one of single, double', class(value));
  end
end
