function result = dwi_fit(signals, bvals, bvecs, order, varargin)
%DWI_FIT  Apparent-diffusion tensors of order 2, 4, 6 or 8 from diffusion-weighted signals.
%   result = purlin.dwi_fit(signals, bvals, bvecs, order) fits -log(S/S0)/b = A g^m by least squares in every
%   voxel. SIGNALS is N-by-T, or N-by-X-by-Y-by-Z; BVALS has N elements, s/mm^2; BVECS is 3-by-N, unit vectors.
%   Signals are double, single, uint8, uint16 or int32 (other integers are converted to single). The weighted
%   measurements need at least U distinct axes.
%
%   RESULT is a struct with the fields tensors (U-by-T or U-by-X-by-Y-by-Z, mm^2/s), s0, status (int32, see
%   purlin.codes) and info: voxels (tensors), those without a result (skipped_tensors, -1 on a GPU), seconds, and where it ran.
%
%   purlin.dwi_fit(..., name, value, ...) or (..., struct):
%     'mask'          logical, a voxel each
%     'weights'       shaped like signals
%     'weighting'     'ols' (default) or 'wls' (S^2)
%     'nonpositive'   'clamp' (default) raises signals below 'clamp', 'skip' leaves them out
%     'clamp'         the smallest signal, relative to S0; 1e-6 if it is not given
%     'b0_threshold'  b-values up to this are b0, default 50
%     'layout'        'first' (default), or 'last' where the N signals run along the last extent, as in the array
%                     of a NIfTI file
%     'progress'      @(step, steps, measure) that returns true to cancel
%
%   The maxima of this tensor are no fibre directions where fibres cross. Take purlin.dwi_csa and
%   purlin.dwi_peaks for those.
%
%   Errors: purlin:invalidArgument, purlin:numerical (directions that do not determine the tensor).
%
%   Example
%     bvecs = [[0; 0; 1], randn(3, 60)];
%     bvecs = bvecs ./ sqrt(sum(bvecs .^ 2));
%     bvals = [0, 1000 * ones(1, 60)];
%     signals = 100 * exp(-bvals .* (2e-4 + 1.5e-3 * bvecs(1, :) .^ 2))';   % a fibre along x
%     fit = purlin.dwi_fit(signals, bvals, bvecs, 4);
  purlin.internal.at_least(nargin, 4, 'dwi_fit');
  names = [purlin.internal.option_names('fit'), {'mask', 'weights', 'layout', 'progress'}];
  opts = purlin.internal.options(names, varargin);
  mask = [];
  weights = [];
  if isfield(opts, 'mask')
    mask = opts.mask;
  end
  if isfield(opts, 'weights')
    weights = opts.weights;
  end
  [signals, bvals, bvecs] = purlin.internal.measured(signals, bvals, bvecs);
  result = purlin_mex('dwi_fit', signals, bvals, bvecs, order, mask, weights, opts);
end
