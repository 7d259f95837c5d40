function whole(value, name, least)
%WHOLE  Refuses what is not a real whole scalar of at least LEAST.
  purlin.internal.validate(value, {'numeric'}, {'scalar', 'real', 'integer', '>=', least}, name);
end
