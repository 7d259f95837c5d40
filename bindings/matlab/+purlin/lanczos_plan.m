function info = lanczos_plan(A, varargin)
%LANCZOS_PLAN  The plan of purlin.lanczos: method and why, vectors of the space, memory, rows of each GPU.
%   info = purlin.lanczos_plan(A, k, which, name, value, ...) takes the arguments of purlin.lanczos but 'dtype', and refuses
%   the same options. K is 6 and WHICH 'largest' if not given. INFO has the fields of the report of
%   purlin.lanczos: method, reason, basis, degree, host_bytes and device_bytes; with 'devices' the contexts, the most rows
%   (part_rows) and entries (part_entries) of one, the numbers that go from one to another in a product (halo) and their bytes
%   (halo_bytes), and the most bytes that one reads and writes in a product (product_bytes). The rest is 0.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.lanczos.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     info = purlin.lanczos_plan(A, 4, 'smallest', 'kind', 'laplacian');
%     info.reason, info.basis, info.host_bytes
  [k, which, options] = purlin.internal.wanted('lanczos_plan', nargin, varargin);
  [opts, given] = purlin.internal.lanczos_inputs(options, {});
  opts.which = which;
  matrix = purlin.internal.operand(A, opts);
  info = purlin_mex('lanczos_plan', matrix, k, opts, given{2}, given{3});
end
