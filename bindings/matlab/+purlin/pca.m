function [coeff, score, latent, explained, mu, model] = pca(X, k, varargin)
%PCA  Principal components of data, centred without a copy.
%   [coeff, score, latent, explained, mu] = purlin.pca(X, k) of N-by-P data with samples as rows: COEFF is P-by-K, SCORE
%   N-by-K, LATENT the variances of the components, EXPLAINED the percentage each has of the total variance, MU the
%   means, a row.
%   purlin.pca(X, k, name, value, ...) takes the names of purlin.PcaModel and those of purlin.rsvd.
%   [..., model] is the purlin.PcaModel, to transform more data with.
%
%   X is anything that purlin.rsvd takes: sparse data stay sparse and files are read in blocks.
%
%   Errors: as purlin.rsvd.
%
%   See also purlin.PcaModel, purlin.pca_plan, purlin.rsvd.
%
%   Example
%     [coeff, score, latent, explained] = purlin.pca(randn(1000, 20) * randn(20), 5);
  purlin.internal.at_least(nargin, 2, 'pca');
  model = purlin.PcaModel(k, varargin{:});
  if nargout > 1
    score = fit_transform(model, X);
  else
    fit(model, X);
  end
  coeff = model.components;
  latent = model.explained_variance;
  explained = 100 * model.explained_variance_ratio;
  mu = model.mean.';
  if nargout < 6
    delete(model);
  end
end
