function value = train(given)
%TRAIN  A train or a TT-matrix in the form that the gateway takes: a cell array of cores in place, or a key.
  if isa(given, 'purlin.TT') || isa(given, 'purlin.TTMatrix')
    value = given.key;
  else
    value = given;
  end
end
