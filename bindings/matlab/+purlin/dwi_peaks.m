function result = dwi_peaks(input, order, varargin)
%DWI_PEAKS  The strongest directions of every voxel.
%   result = purlin.dwi_peaks(tensors, order, 'basis', 'tensor') for U-by-T (or U-by-X-by-Y-by-Z) packed symmetric
%   tensors of even order and dimension 3, double or single; a symmetric purlin.Tensor needs no basis.
%   result = purlin.dwi_peaks(sh, lmax, 'basis', name) for even spherical-harmonic coefficients, U-by-T, in the basis
%   'mrtrix3', 'tournier07_legacy', 'descoteaux07_legacy' (dipy's default), 'descoteaux07' or 'canonical'.
%   Both have the same size: the basis has no default.
%
%   RESULT is a struct with the fields
%     peaks   4-by-K-by-T: unit x, y, z and the value, strongest first, z >= 0; or 3-by-K-by-T with 'mrtrix'
%     count   1-by-T, int32
%     status  1-by-T, int32, see purlin.codes
%     info    totals
%   Directions are in the frame of the gradients.
%
%   purlin.dwi_peaks(..., name, value, ...) or (..., struct):
%     'peaks'               K, default 5
%     'relative_threshold'  of the strongest peak of the voxel, default 0.1
%     'absolute_threshold'  default 0
%     'min_separation'      rad, default 15 degrees, 0 for none
%     'format'              'unit_value' (default) or 'mrtrix': direction times amplitude
%     'missing'             'nan' (default) or 'zero'
%     'mask'                logical, a voxel each
%     'layout'              'first' (default), or 'last' where the U numbers run along the last extent
%     'starts', 'tolerance', 'merge_angle'   of the search
%     'start_kind', 'method'  'auto' (default) and 'hybrid' (default), as in purlin.sshopm_solve
%     'seed'            of random starts, default 0
%     'max_iterations'  of a start; 0, the default, is 500
%     'progress'            @(step, steps, measure) that returns true to cancel
%
%   Errors: purlin:invalidArgument (odd order, no basis or an unknown one), purlin:cancelled.
%
%   See also purlin.dwi_plan, purlin.sh_to_tensor, purlin.sshopm_solve.
%
%   Example
%     bvecs = [[0; 0; 1], randn(3, 60)];
%     bvecs = bvecs ./ sqrt(sum(bvecs .^ 2));
%     bvals = [0, 1000 * ones(1, 60)];
%     signals = 100 * exp(-bvals .* (2e-4 + 1.5e-3 * bvecs(1, :) .^ 2))';   % a fibre along x
%     odf = purlin.dwi_csa(signals, bvals, bvecs, 8, 'mrtrix3');
%     r = purlin.dwi_peaks(odf.sh, 8, 'basis', 'mrtrix3', 'peaks', 3);
  purlin.internal.at_least(nargin, 2, 'dwi_peaks');
  opts = purlin.internal.peaks_options(varargin, {'peaks', 'mask', 'progress'});
  mask = [];
  if isfield(opts, 'mask')
    mask = opts.mask;
  end
  result = purlin_mex('dwi_peaks', purlin.internal.data(input, 'input'), order, mask, opts);
end
