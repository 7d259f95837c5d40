function info = context_info()
%CONTEXT_INFO  Backend, device and memory of this process.
%   info = purlin.context_info() has the fields backend, device_name, device, threads, cpu_isa, host_memory_limit,
%   device_memory_limit, host_memory_used and device_memory_used (bytes).
%
%   See also purlin.configure.
%
%   Example
%     info = purlin.context_info();
%     info.backend
  info = purlin_mex('properties');
end
