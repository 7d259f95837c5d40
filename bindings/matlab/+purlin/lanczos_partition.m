function info = lanczos_partition(A, varargin)
%LANCZOS_PARTITION  How several GPUs would share the rows of a sparse matrix, before a solve.
%   info = purlin.lanczos_partition(A, 'devices', list) tells contexts, the most rows (part_rows) and entries (part_entries) of
%   one, the numbers that go from one to another in a product (halo) and their bytes (halo_bytes), and the most bytes that one
%   reads and writes in a product (product_bytes). LIST is as for purlin.lanczos.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.lanczos.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     info = purlin.lanczos_partition(A, 'devices', 0);
  purlin.internal.at_least(nargin, 1, 'lanczos_partition');
  opts = purlin.internal.options({'devices'}, varargin);
  info = purlin_mex('lanczos_partition', purlin.internal.matrix(A, 'A'), opts);
end
