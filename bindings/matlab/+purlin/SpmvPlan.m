classdef SpmvPlan < handle
%SPMVPLAN  Products with a sparse matrix, planned once.
%   P = purlin.SpmvPlan(A) copies A, or takes a purlin.Matrix, and looks at the lengths of its rows; P = purlin.SpmvPlan(A,
%   name, value, ...) with 'algorithm' and 'order' as purlin.spmv has them, 'op' for 'plain' (default), 'transpose' or
%   'adjoint', and 'symmetric' true where A is known to be so, which saves the copy that a transpose takes.
%
%   apply(P, X) is A*X, describe(P) tells what was found and chosen, delete(P) gives the memory back. Copies of the variable
%   are the same object.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory, purlin:outOfDeviceMemory.
%
%   See also purlin.spmv, purlin.Matrix.
%
%   Example
%     P = purlin.SpmvPlan(A);
%     for k = 1:100
%       x = apply(P, x) / norm(x);
%     end
  properties (SetAccess = private)
    key = uint64(0)
    matrix
    ownsMatrix = false
  end
  methods
    function obj = SpmvPlan(A, varargin)
      opts = purlin.internal.options({'algorithm', 'order', 'op', 'symmetric'}, varargin);
      if issparse(A)
        A = purlin.Matrix(A);
        obj.ownsMatrix = true;
      elseif ~isa(A, 'purlin.Matrix')
        error('purlin:invalidArgument', 'A: is neither sparse nor a purlin.Matrix');
      end
      obj.matrix = A;
      obj.key = purlin_mex('spmv_create', A.key, opts);
    end

    function Y = apply(obj, X)
      told = describe(obj.matrix);
      X = double(X);
      if told.complex
        X = complex(X);
      elseif ~isreal(X)
        Y = complex(apply(obj, real(X)), apply(obj, imag(X)));
        return;
      end
      Y = purlin_mex('spmv_apply', obj.key, obj.matrix.key, X);
    end

    function info = describe(obj)
      info = purlin_mex('spmv_properties', obj.key);
    end

    function delete(obj)
      % Called again when the variable goes, and then a key that is gone already means nothing.
      purlin_mex('spmv_destroy', obj.key);
      if obj.ownsMatrix
        delete(obj.matrix);
      end
    end
  end
end
