function sh = tensor_to_sh(tensors, order, basis, varargin)
%TENSOR_TO_SH  Symmetric tensors of even order to spherical-harmonic coefficients.
%   sh = purlin.tensor_to_sh(tensors, order, basis) is the inverse of purlin.sh_to_tensor, with the same arguments.
%   purlin.tensor_to_sh(..., 'layout', 'last') where the entries run along the last extent.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.sh_to_tensor.
%
%   Example
%     A = rand(15, 100);   % of 100 voxels
%     sh = purlin.tensor_to_sh(A, 4, 'mrtrix3');
  purlin.internal.at_least(nargin, 3, 'tensor_to_sh');
  opts = purlin.internal.options({'layout'}, varargin);
  sh = purlin_mex('tensor_to_sh', purlin.internal.data(tensors, 'tensors'), order, basis, opts);
end
