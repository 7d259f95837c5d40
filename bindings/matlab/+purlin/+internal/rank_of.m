function k = rank_of(k, name)
%RANK_OF  A number of triplets for the gateway; none means that the tolerance decides.
  if isempty(k)
    k = 0;
    return;
  end
  purlin.internal.whole(k, name, 0);
  k = double(k);
end
