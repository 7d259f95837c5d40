function tensors = sh_to_tensor(sh, order, basis, varargin)
%SH_TO_TENSOR  Even spherical-harmonic coefficients to symmetric tensors.
%   tensors = purlin.sh_to_tensor(sh, order, basis) for SH of U-by-T (or U-by-X-by-Y-by-Z), lmax = order, double or
%   single. BASIS has no default: 'mrtrix3', 'tournier07_legacy', 'descoteaux07_legacy' (dipy's default),
%   'descoteaux07' or 'canonical'.
%   purlin.sh_to_tensor(..., 'layout', 'last') where the coefficients run along the last extent.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.tensor_to_sh, purlin.dwi_peaks.
%
%   Example
%     sh = rand(15, 100);   % of 100 voxels
%     A = purlin.sh_to_tensor(sh, 4, 'mrtrix3');
  purlin.internal.at_least(nargin, 3, 'sh_to_tensor');
  opts = purlin.internal.options({'layout'}, varargin);
  tensors = purlin_mex('sh_to_tensor', purlin.internal.data(sh, 'sh'), order, basis, opts);
end
