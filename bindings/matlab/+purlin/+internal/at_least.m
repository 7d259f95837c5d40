function at_least(count, least, name)
%AT_LEAST  Refuses a call of the function NAME, or of the method 'CLASS.METHOD', with fewer than LEAST arguments.
%   The object of a method is not counted.
  if count < least
    error('purlin:invalidArgument', '%s: has %d arguments, at least %d are needed: see help purlin.%s', ...
          name, count, least, strtok(name, '.'));
  end
end
