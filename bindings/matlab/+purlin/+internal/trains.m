function given = trains(list, name)
%TRAINS  A cell array of trains in the form that the gateway takes.
  if ~iscell(list)
    error('purlin:invalidArgument', '%s: is of class %s, expected a cell array of trains', name, class(list));
  end
  given = cellfun(@purlin.internal.train, list, 'UniformOutput', false);
end
