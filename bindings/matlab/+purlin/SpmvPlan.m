classdef SpmvPlan < handle
%SPMVPLAN  Products with a sparse matrix, or with an operator made of it, planned once.
%   P = purlin.SpmvPlan(A) copies A, or takes a purlin.Matrix, and looks at the lengths of its rows; a logical A is a pattern whose
%   entries are 1. P = purlin.SpmvPlan(A, name, value, ...) with 'method' and 'ordering' as purlin.spmv has them, 'op' for 'plain'
%   (default), 'transpose' or 'adjoint', 'symmetric' true where A is known to be so, which saves the copy that a transpose takes, and
%     'kind'   the operator, never formed: 'matrix' (default), 'laplacian' (D - A, D being the row sums),
%              'normalized_laplacian', 'random_walk_laplacian', 'signless_laplacian', 'normalized_adjacency', 'modularity',
%              'gram' (A'*A), 'outer_gram', 'augmented'
%     'shift'  added to the diagonal of that
%     'degree', 'lower', 'upper'  with a degree d the Chebyshev filter T_d((2*Op - (lower + upper)*I) / (upper - lower)) of that:
%              within 1 where its spectrum is between lower and upper, and large beyond
%     'dtype'  'single' for a copy of a sparse A in single precision; X and Y are then single, too
%   A may be an operator of purlin.graph_operator_of_image, too, which is never formed.
%
%   apply(P, X) is A*X, and apply(P, X, alpha, beta, Y) alpha*A*X + beta*Y. update(P, B) has products with B, of A's structure, from
%   then on: new values, say. describe(P) reports the plan's choices, delete(P) gives the memory back. Copies of the variable
%   are the same object.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory, purlin:outOfDeviceMemory.
%
%   See also purlin.spmv, purlin.Matrix.
%
%   Example
%     W = sparse(kron(eye(2), ones(20)) - eye(40));   % two groups, and one edge between them
%     W(20, 21) = 1;
%     W(21, 20) = 1;
%     P = purlin.SpmvPlan(W, 'kind', 'normalized_laplacian');
%     x = rand(40, 1);
%     for k = 1:100
%       x = apply(P, x) / norm(x);
%     end
  properties (SetAccess = private)
    key = uint64(0)
    matrix
    ownsMatrix = false
    dtype = 'double'
  end
  methods
    function obj = SpmvPlan(A, varargin)
      purlin.internal.at_least(nargin, 1, 'SpmvPlan');
      names = [purlin.internal.option_names('spmv'), {'dtype'}];
      opts = purlin.internal.options(names, varargin);
      if isfield(opts, 'dtype')
        purlin.internal.dtype_word(opts.dtype);
        obj.dtype = opts.dtype;
        opts = rmfield(opts, 'dtype');
      end
      [obj.matrix, obj.ownsMatrix] = taken(A, obj.dtype);
      obj.key = purlin_mex('spmv_create', obj.matrix.key, opts);
    end

    function Y = apply(obj, X, alpha, beta, Y)
      purlin.internal.at_least(nargin - 1, 1, 'SpmvPlan.apply');
      if nargin < 3 || isempty(alpha)
        alpha = 1;
      end
      if nargin < 4 || isempty(beta)
        beta = 0;
      end
      if nargin < 5
        Y = [];
      end
      given = {X, alpha, beta, Y};
      called = {'X', 'alpha', 'beta', 'Y'};
      for k = 1:4
        given{k} = purlin.internal.numbers(given{k}, called{k}, class(given{k}));
        if any(k == [2 3]) && numel(given{k}) ~= 1
          error('purlin:invalidArgument', '%s: has %d elements, expected 1', called{k}, numel(given{k}));
        end
      end
      if beta ~= 0 && isempty(Y)
        error('purlin:invalidArgument', 'beta: needs Y');
      end
      describe(obj); % refuses a plan that was deleted, before the matrix that went with it
      found = describe(obj.matrix);
      given = cellfun(@(value) cast(value, found.dtype), given, 'UniformOutput', false);
      if found.complex
        given = cellfun(@complex, given, 'UniformOutput', false);
      elseif ~all(cellfun(@isreal, given))
        product = complex(apply(obj, real(given{1})), apply(obj, imag(given{1})));
        Y = alpha * product;
        if beta ~= 0
          Y = Y + beta * given{4};
        end
        return;
      end
      if beta == 0
        given{4} = [];
      end
      Y = purlin_mex('spmv_apply', obj.key, obj.matrix.key, given{:});
    end

    function update(obj, A)
      purlin.internal.at_least(nargin - 1, 1, 'SpmvPlan.update');
      [other, owned] = taken(A, obj.dtype);
      try
        describe(obj); % as in apply
        purlin_mex('spmv_update', obj.key, other.key);
      catch problem
        if owned
          delete(other);
        end
        rethrow(problem);
      end
      if obj.ownsMatrix
        delete(obj.matrix);
      end
      obj.matrix = other;
      obj.ownsMatrix = owned;
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

function [matrix, owned] = taken(A, dtype)
  owned = issparse(A) || isstruct(A);
  if issparse(A)
    matrix = purlin.Matrix(A, 'dtype', dtype);
  elseif isstruct(A)
    if numel(A) ~= 1 || ~isfield(A, 'pixels') || isempty(A.pixels)
      error('purlin:invalidArgument', 'A: is a struct, expected %s', ...
            'a sparse matrix, a purlin.Matrix, or an operator of purlin.graph_operator_of_image');
    end
    matrix = purlin.Matrix(A);
  elseif isa(A, 'purlin.Matrix')
    matrix = A;
  else
    error('purlin:invalidArgument', 'A: is neither sparse nor a purlin.Matrix');
  end
end
