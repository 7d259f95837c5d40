classdef PcaModel < handle
%PCAMODEL  A principal component analysis: fitted once, used for more data.
%   p = purlin.PcaModel(k, name, value, ...). Names, besides those of purlin.rsvd but 'tolerance',
%   'max_rank', 'block_columns', 'one_pass', 'restart_path', 'omega' and 'sign', which a fit refuses:
%     'samples'   'rows' (default) or 'columns' of the data
%     'center'    true (default): the means are subtracted, without a copy
%     'scale'     false (default); true divides each feature by its deviation
%     'whiten'    false (default); true gives scores of variance 1, and 0 along directions without variance
%   fit(p, X)                      finds the components
%   scores = fit_transform(p, X)   the same with the scores of X; they cost one pass more with RANGE and FUSED
%   scores = transform(p, X)       scores of data that lie as X did
%   X = inverse_transform(p, scores)
%   p.components (features-by-k), p.mean, p.scale, p.constant (1 for each feature that is constant and contributes
%   nothing to scores), p.singular_values, p.explained_variance, p.explained_variance_ratio, p.total_variance,
%   p.noise_variance, p.rounding (singular values up to it are rounding errors), p.count, p.features, p.rank, p.info
%   delete(p)
%
%   Errors: as purlin.rsvd.
%
%   See also purlin.pca, purlin.pca_plan, purlin.rsvd.
%
%   Example
%     training = randn(200, 5) * randn(5, 30);
%     test = randn(50, 5) * randn(5, 30);
%     p = purlin.PcaModel(5);
%     fit(p, training);
%     scores = transform(p, test);
  properties (SetAccess = private)
    key = uint64(0)
    components
    mean
    scale
    constant
    singular_values
    explained_variance
    explained_variance_ratio
    total_variance
    noise_variance
    rounding
    count
    features
    rank
    info
  end
  properties (Access = private)
    wanted
    options
    own % options of the model, whose names the decomposition may have too
  end
  methods
    function obj = PcaModel(k, varargin)
      purlin.internal.at_least(nargin, 1, 'PcaModel');
      purlin.internal.whole(k, 'k', 1);
      % As it is: a double does not hold every integer of 64 bits.
      obj.wanted = k;
      [obj.options, obj.own] = purlin.internal.pca_options(varargin, {});
    end

    function fit(obj, X)
      purlin.internal.at_least(nargin - 1, 1, 'PcaModel.fit');
      run(obj, X, false);
    end

    function scores = fit_transform(obj, X)
      purlin.internal.at_least(nargin - 1, 1, 'PcaModel.fit_transform');
      scores = run(obj, X, true);
    end

    function scores = transform(obj, X)
      purlin.internal.at_least(nargin - 1, 1, 'PcaModel.transform');
      expect_fitted(obj);
      scores = purlin_mex('pca_transform', obj.key, purlin.internal.matrix(X, 'X'));
    end

    function X = inverse_transform(obj, scores)
      purlin.internal.at_least(nargin - 1, 1, 'PcaModel.inverse_transform');
      expect_fitted(obj);
      X = purlin_mex('pca_inverse', obj.key, purlin.internal.matrix(scores, 'scores'));
    end

    function delete(obj)
      % Called again when the variable goes, and then a key that is gone already means nothing.
      purlin_mex('pca_destroy', obj.key);
    end
  end
  methods (Access = private)
    function expect_fitted(obj)
      if obj.key == 0
        error('purlin:invalidHandle', 'PcaModel: has not been fitted; fit comes first');
      end
    end

    function scores = run(obj, X, wanted)
      given = purlin.internal.matrix(X, 'X');
      [made, scores, obj.info] = purlin_mex('pca_fit', given, obj.wanted, obj.options, obj.own, wanted);
      purlin_mex('pca_destroy', obj.key);
      obj.key = made;
      found = purlin_mex('pca_properties', obj.key);
      names = {'components', 'mean', 'scale', 'constant', 'singular_values', 'explained_variance', ...
               'explained_variance_ratio', 'total_variance', 'noise_variance', 'rounding', 'count', 'features', 'rank'};
      for n = 1:numel(names)
        obj.(names{n}) = found.(names{n});
      end
    end
  end
end
