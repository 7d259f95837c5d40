function release()
%RELEASE  Gives the context of the library back, with its threads and memory.
%   purlin.release() forgets the settings of purlin.configure; the next call starts afresh. Objects of purlin.Tensor
%   and purlin.Matrix live on until they are deleted, but no later call takes them.
%
%   Example
%     purlin.release()
  purlin_mex('release');
end
