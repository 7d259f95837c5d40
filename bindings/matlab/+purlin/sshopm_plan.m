function info = sshopm_plan(A, order, dimension, varargin)
%SSHOPM_PLAN  The plan of purlin.sshopm_solve: starts, chunks, tolerance, host memory, and where it runs.
%   info = purlin.sshopm_plan(A, order, dimension, name, value, ...) takes the options of purlin.sshopm_solve that are neither
%   arrays nor about results. Chunks and host memory are those beside the arrays of pairs and starts. Nothing is solved.
%
%   Errors: as purlin.sshopm_solve.
%
%   See also purlin.sshopm_solve.
%
%   Example
%     info = purlin.sshopm_plan(rand(15, 1000), 4, 3);
%     info.starts, info.reason
  purlin.internal.at_least(nargin, 3, 'sshopm_plan');
  listed = [purlin.internal.option_names('sshopm'), {'starts'}];
  opts = purlin.internal.options(listed, varargin);
  if isfield(opts, 'shift') && ~isempty(opts.shift) && ~isfield(opts, 'shift_kind')
    opts.shift_kind = 'fixed';
  end
  info = purlin_mex('sshopm_plan', purlin.internal.data(A, 'A'), order, dimension, opts);
end
