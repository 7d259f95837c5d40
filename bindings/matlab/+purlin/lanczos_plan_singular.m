function info = lanczos_plan_singular(A, varargin)
%LANCZOS_PLAN_SINGULAR  The plan of purlin.lanczos_singular: method and why, vectors of the space, memory.
%   info = purlin.lanczos_plan_singular(A, k, which, name, value, ...) takes the arguments of purlin.lanczos_singular but
%   'start', and refuses the same options. INFO has the fields of the report of purlin.lanczos_singular: method, reason, basis,
%   degree, host_bytes and device_bytes, where the memory holds Golub-Kahan-Lanczos too, which may follow; of a sparse matrix
%   its rows (part_rows) and entries (part_entries), and the bytes of a product with A and one with A' (product_bytes). The
%   rest is 0.
%
%   Errors: as purlin.lanczos_singular.
%
%   See also purlin.lanczos_singular, purlin.lanczos_plan.
%
%   Example
%     A = sprand(300, 200, 0.05);
%     info = purlin.lanczos_plan_singular(A, 4, 'smallest');
%     info.reason, info.basis, info.host_bytes
  [k, which, options] = purlin.internal.wanted('lanczos_plan_singular', nargin, varargin);
  opts = purlin.internal.lanczos_options(options, {'kind'});
  opts.which = which;
  if isnumeric(A) && ~issparse(A)
    A = sparse(double(A));
  end
  info = purlin_mex('lanczos_plan_singular', purlin.internal.matrix(A, 'A'), k, opts);
end
