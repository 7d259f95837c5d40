function whole(value, name, least)
%WHOLE  Refuses what is not a real whole scalar of at least LEAST.
  try
    validateattributes(value, {'numeric'}, {'scalar', 'real', 'integer', '>=', least}, 'purlin', name);
  catch caught
    error('purlin:invalidArgument', '%s', caught.message);
  end
end
