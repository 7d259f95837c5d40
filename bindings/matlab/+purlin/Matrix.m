classdef Matrix < handle
%MATRIX  A matrix in memory of the library's own, on the host or on the GPU.
%   M = purlin.Matrix(array) copies a full matrix, or a sparse one, which is kept by compressed rows on the host; a logical
%   sparse one as a pattern, without values: products read a third of the memory.
%   M = purlin.Matrix(array, 'location', 'device') copies a full matrix to the GPU.
%   M = purlin.Matrix(array, 'dtype', 'single') keeps a sparse matrix in single precision, which MATLAB's own are not:
%   products and solvers work in it.
%   M = purlin.Matrix(W) keeps the operator W of purlin.graph_operator_of_image.
%
%   gather(M) is the matrix again, describe(M) has rows, cols, nnz, storage, location and dtype, whether it is complex or a pattern,
%   delete(M) gives the memory back. Copies of the variable are the same object.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory, purlin:outOfDeviceMemory.
%
%   Example
%     M = purlin.Matrix(speye(3));
%     full(gather(M))
  properties (SetAccess = private)
    key = uint64(0)
  end
  methods
    function obj = Matrix(array, varargin)
      purlin.internal.at_least(nargin, 1, 'Matrix');
      opts = purlin.internal.options({'location', 'dtype'}, varargin);
      if issparse(array)
        % Compressed columns of the transpose are the compressed rows.
        if ~islogical(array)
          array = double(array);
        end
        array = array.';
      end
      obj.key = purlin_mex('matrix_create', array, opts);
    end

    function array = gather(obj)
      info = purlin_mex('matrix_properties', obj.key);
      if strcmp(info.storage, 'csr')
        [rows, cols, values, m, n] = purlin_mex('matrix_gather', obj.key);
        array = sparse(rows, cols, double(values), m, n);
        if info.pattern
          array = array ~= 0;
        end
      else
        array = purlin_mex('matrix_gather', obj.key);
      end
    end

    function info = describe(obj)
      info = purlin_mex('matrix_properties', obj.key);
    end

    function delete(obj)
      % Called again when the variable goes, and then a key that is gone already means nothing.
      purlin_mex('matrix_destroy', obj.key);
    end
  end
end
