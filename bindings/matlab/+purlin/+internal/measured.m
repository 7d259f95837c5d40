function [signals, bvals, bvecs] = measured(signals, bvals, bvecs)
%MEASURED  Signals, b-values and directions in classes that the gateway takes together.
  if isinteger(signals) && ~any(strcmp(class(signals), {'uint8', 'uint16', 'int32'}))
    signals = single(signals);
  end
  bvals = purlin.internal.data(bvals, 'bvals');
  bvecs = purlin.internal.data(bvecs, 'bvecs');
end
