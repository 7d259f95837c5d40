function k = rank_of(k, name)
%RANK_OF  A number of triplets for the gateway; none means that the tolerance decides.
  if isempty(k)
    k = 0;
    return;
  end
  purlin.internal.whole(k, name, 0);
  % As it is: a double does not hold every integer of 64 bits.
  if ~isinteger(k)
    k = double(k);
  end
end
