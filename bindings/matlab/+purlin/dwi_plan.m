function info = dwi_plan(input, order, varargin)
%DWI_PLAN  The plan of purlin.dwi_peaks: starts, chunks, tolerance, host memory, and where it runs.
%   info = purlin.dwi_plan(input, order, name, value, ...) takes the arguments of purlin.dwi_peaks but
%   'peaks', 'mask' and 'progress'.
%   INFO is the info of purlin.dwi_peaks; host_bytes are those for five peaks of a voxel beside the array of peaks. Nothing is
%   solved.
%
%   Errors: as purlin.dwi_peaks.
%
%   See also purlin.dwi_peaks, purlin.sshopm_plan.
%
%   Example
%     info = purlin.dwi_plan(rand(15, 1000), 4, 'basis', 'tensor');
%     info.starts, info.reason
  purlin.internal.at_least(nargin, 2, 'dwi_plan');
  opts = purlin.internal.peaks_options(varargin, {});
  info = purlin_mex('dwi_plan', purlin.internal.data(input, 'input'), order, opts);
end
