function list = devices()
%DEVICES  The GPUs that the library can use.
%   list = purlin.devices() is a struct array with the fields ordinal, name, compute_capability, multiprocessors,
%   memory_total, memory_free, l2_bytes, shared_memory_per_block (bytes), clock_khz and driver_version. It is
%   empty on a machine without a GPU or a driver. The ordinal counts from 0, as CUDA does.
%
%   See also purlin.configure.
%
%   Example
%     numel(purlin.devices())
  list = purlin_mex('devices');
end
