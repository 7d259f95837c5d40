classdef Tensor < handle
%TENSOR  An array in memory of the library's own, on the host or on the GPU.
%   t = purlin.Tensor(array) copies a full array of class double or single (real or complex), int32, int64, uint8,
%   uint16 or logical.
%   t = purlin.Tensor(array, name, value, ...):
%     'location'             'host' (default) or 'device'
%     'order', 'dimension'   the array is a batch of packed symmetric tensors, U-by-T, double or single
%   A symmetric one may take the place of the array A in purlin.sshopm_solve, purlin.dwi_peaks and so on, which
%   saves the copy to the GPU in every call.
%
%   gather(t) is the array again, describe(t) has extents and place, delete(t) gives the memory back. Copies of
%   the variable are the same object. An object from a saved workspace is dead: purlin:invalidHandle. One
%   made before purlin.configure or purlin.release belongs to a context that is gone and can only be deleted.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory, purlin:outOfDeviceMemory.
%
%   Example
%     A = purlin.symmetric_identity(4, 3);   % 15 packed entries
%     t = purlin.Tensor(A, 'order', 4, 'dimension', 3);
%     r = purlin.sshopm_solve(t, 4, 3);
%     delete(t);
  properties (SetAccess = private)
    key = uint64(0)
  end
  methods
    function obj = Tensor(array, varargin)
      purlin.internal.at_least(nargin, 1, 'Tensor');
      opts = purlin.internal.options({'location', 'order', 'dimension'}, varargin);
      if isfield(opts, 'order') ~= isfield(opts, 'dimension')
        error('purlin:invalidArgument', 'order, dimension: only one of them is given');
      end
      obj.key = purlin_mex('tensor_create', array, opts);
    end

    function array = gather(obj)
      array = purlin_mex('tensor_gather', obj.key);
    end

    function info = describe(obj)
      info = purlin_mex('tensor_properties', obj.key);
    end

    function delete(obj)
      % Called again when the variable goes, and then a key that is gone already means nothing.
      purlin_mex('tensor_destroy', obj.key);
    end
  end
end
