function given = other_trains(list)
%OTHER_TRAINS  The second trains of a Gram matrix in the form that the gateway takes; [] stands for the first ones.
  if isnumeric(list) && isempty(list)
    given = [];
  else
    given = purlin.internal.trains(list, 'y');
  end
end
