function configure(varargin)
%CONFIGURE  Chooses where and how purlin computes.
%   purlin.configure(name, value, ...) or purlin.configure(struct) replaces the context of all further calls:
%     'backend'              'auto' (a GPU if there is one, else the CPU), 'cpu' or 'cuda'
%     'device'               ordinal of the GPU, from 0; on the CPU others are refused, and with 'auto' others ask for a GPU
%     'threads'              CPU threads, 0 for all cores
%     'cpu_isa'              'auto', 'portable', 'avx2' or 'avx512'
%     'host_memory_limit'    bytes, 0 for no limit
%     'device_memory_limit'  bytes, 0 for no limit; refused with 'cpu', without effect where 'auto' chooses the CPU
%   Options that are not named stay as they were, but 'backend' alone means device 0 without a limit. Without a call of it, the first call
%   of any function chooses 'auto'. When the settings are refused, the context in use stays. Objects made before belong to
%   the context before: make them anew.
%
%   Errors: purlin:invalidArgument, purlin:noDevice, purlin:notSupported.
%
%   See also purlin.context_info, purlin.release.
%
%   Example
%     purlin.configure('backend', 'cpu', 'threads', 2)
  names = {'backend', 'device', 'threads', 'cpu_isa', 'host_memory_limit', 'device_memory_limit'};
  purlin_mex('configure', purlin.internal.options(names, varargin));
end
