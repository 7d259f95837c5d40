classdef TT < handle
%TT  A tensor train (matrix-product state) in memory of the library's own, on the host or on the GPU.
%   t = purlin.TT(cores) copies a cell array of cores r-by-n-by-s: left rank, mode, right rank, full arrays of class
%   double or single, real or complex. The first left rank and the last right rank are equal: 1 for an open train, more
%   for a ring.
%   t = purlin.TT(cores, 'location', 'device') puts it on the GPU.
%   Functions purlin.tt_... take such an object or a cell array of cores, which they use in place.
%
%   gather(t) is the cell array again, describe(t) has the mode sizes and ranks, delete(t) gives
%   the memory back. Copies of the variable are the same object. An object from a saved workspace is dead:
%   purlin:invalidHandle.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory, purlin:outOfDeviceMemory.
%
%   Example
%     t = purlin.TT({rand(1, 2, 3), rand(3, 2, 1)});
%     s = describe(t);
  properties (SetAccess = private)
    key = uint64(0)
  end
  methods
    function obj = TT(cores, varargin)
      purlin.internal.at_least(nargin, 1, 'TT');
      if isa(cores, 'uint64')
        % A train that another function of the package has made.
        obj.key = cores;
        return;
      end
      opts = purlin.internal.options({'location'}, varargin);
      obj.key = purlin_mex('tt_create', cores, opts);
    end

    function cores = gather(obj)
      cores = purlin_mex('tt_gather', obj.key);
    end

    function info = describe(obj)
      info = purlin_mex('tt_properties', obj.key);
    end

    function delete(obj)
      % Called again when the variable goes, and then a key that is gone already means nothing.
      purlin_mex('tt_destroy', obj.key);
    end
  end
end
