function [number, text] = version()
%VERSION  Version of the library that is loaded.
%   number = purlin.version() is major*10000 + minor*100 + patch.
%   [number, text] = purlin.version() also says how it was built: CUDA or not, GPU architectures.
%
%   Example
%     [~, text] = purlin.version()
  [number, text] = purlin_mex('version');
end
