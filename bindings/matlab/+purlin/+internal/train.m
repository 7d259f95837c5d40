function value = train(given)
%TRAIN  What the gateway takes for a train or a TT-matrix: a cell array of cores in place, or a key.
  if isa(given, 'purlin.TT') || isa(given, 'purlin.TTMatrix')
    value = given.key;
  else
    value = given;
  end
end
