function result = dwi_csa(signals, bvals, bvecs, lmax, basis, varargin)
%DWI_CSA  Orientation functions from the signals of one shell, by q-ball imaging in constant solid angle.
%   result = purlin.dwi_csa(signals, bvals, bvecs, lmax, basis) for SIGNALS of N-by-T, or N-by-X-by-Y-by-Z, of class
%   double, single, uint8, uint16 or int32 (other integers are converted to single), BVALS of N elements, s/mm^2, and
%   BVECS of 3-by-N, unit vectors. BASIS has no default: see purlin.dwi_peaks, which takes the result.
%
%   RESULT is a struct with the fields sh (U-by-T or U-by-X-by-Y-by-Z coefficients), status (int32, see
%   purlin.codes) and info, as purlin.dwi_fit. With the default options it is that of dipy's CsaOdfModel.
%
%   purlin.dwi_csa(..., name, value, ...) or (..., struct):
%     'mask'            logical, a voxel each
%     'smoothing'       weight of the Laplace-Beltrami penalty, default 0.006
%     'minimum_signal', 'maximum_signal'   bounds of S/S0, default 0.001 and 0.999
%     'b0_threshold'    b-values up to this are b0, default 50
%     'layout'          'first' (default), or 'last' where the N signals run along the last extent, as in the array of
%                       a NIfTI file
%     'progress'        @(step, steps, measure) that returns true to cancel
%
%   Errors: purlin:invalidArgument, purlin:cancelled.
%
%   Example
%     bvecs = [[0; 0; 1], randn(3, 60)];
%     bvecs = bvecs ./ sqrt(sum(bvecs .^ 2));
%     bvals = [0, 1000 * ones(1, 60)];
%     signals = 100 * exp(-bvals .* (2e-4 + 1.5e-3 * bvecs(1, :) .^ 2))';   % a fibre along x
%     odf = purlin.dwi_csa(signals, bvals, bvecs, 4, 'mrtrix3');
%     r = purlin.dwi_peaks(odf.sh, 4, 'basis', 'mrtrix3', 'peaks', 3);
  purlin.internal.at_least(nargin, 5, 'dwi_csa');
  names = [purlin.internal.option_names('csa'), {'mask', 'layout', 'progress'}];
  opts = purlin.internal.options(names, varargin);
  mask = [];
  if isfield(opts, 'mask')
    mask = opts.mask;
  end
  [signals, bvals, bvecs] = purlin.internal.measured(signals, bvals, bvecs);
  result = purlin_mex('dwi_csa', signals, bvals, bvecs, lmax, basis, mask, opts);
end
