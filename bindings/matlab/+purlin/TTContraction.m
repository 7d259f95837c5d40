classdef TTContraction < handle
%TTCONTRACTION  Options of contractions of tensor trains, kept with plan and workspace for many calls.
%   c = purlin.TTContraction(name, value, ...) with the names of purlin.tt_inner, but for 'progress'.
%   Functions that take those names take such an object in their place: purlin.tt_inner(x, y, c). Calls of the same shapes
%   then plan and allocate once. last_info(c) is the report of the last call that gave one. delete(c) gives the memory back. Copies of the variable are the same object. An object from
%   a saved workspace is dead: purlin:invalidHandle.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_inner, purlin.tt_plan_inner.
%
%   Example
%     c = purlin.TTContraction('scaling', 'always');
%     x = {rand(1, 2, 3), rand(3, 2)};
%     for k = 1:3
%       v = purlin.tt_inner(x, x, c);
%     end
  properties (SetAccess = private)
    key = uint64(0)
  end
  methods
    function obj = TTContraction(varargin)
      opts = purlin.internal.tt_options(varargin);
      if ~isstruct(opts)
        error('purlin:invalidArgument', 'options: are another contraction');
      end
      if isfield(opts, 'progress') && ~isempty(opts.progress)
        error('purlin:invalidArgument', 'progress: is for single calls, a contraction that is kept has none');
      end
      obj.key = purlin_mex('contraction_create', opts);
    end

    function info = last_info(obj)
      info = purlin_mex('contraction_last_info', obj.key);
    end

    function delete(obj)
      % Called again when the variable goes, and then a key that is gone already means nothing.
      purlin_mex('contraction_destroy', obj.key);
    end
  end
end
