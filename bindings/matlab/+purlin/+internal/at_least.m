function at_least(count, least, name)
%AT_LEAST  Refuses a call of the function NAME with fewer than LEAST arguments.
  if count < least
    error('purlin:invalidArgument', '%s: has %d arguments, at least %d are needed: see help purlin.%s', ...
          name, count, least, name);
  end
end
