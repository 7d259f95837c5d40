function info = pca_plan(X, k, varargin)
%PCA_PLAN  The plan of a fit of principal components: method and why, passes, bytes, blocks, memory.
%   info = purlin.pca_plan(X, k, name, value, ...) takes the names of purlin.PcaModel, and
%     'with_scores'   false (default): of fit, or of purlin.pca with one output; true: of fit_transform, or of purlin.pca with
%                     the scores, which take memory, and with RANGE and FUSED a pass
%   No entry of X is read. INFO has the fields of p.info of purlin.PcaModel.
%
%   Errors: as purlin.PcaModel.
%
%   See also purlin.pca, purlin.PcaModel, purlin.rsvd_plan.
%
%   Example
%     X = rand(2000, 300);
%     info = purlin.pca_plan(X, 10, 'with_scores', true);
%     info.method, info.reason, info.passes, info.host_bytes
  purlin.internal.at_least(nargin, 2, 'pca_plan');
  [opts, own] = purlin.internal.pca_options(varargin, {'with_scores'});
  with_scores = false;
  if isfield(own, 'with_scores')
    with_scores = own.with_scores;
    own = rmfield(own, 'with_scores');
  end
  info = purlin_mex('pca_plan', purlin.internal.matrix(X, 'X'), purlin.internal.rank_of(k, 'k'), opts, own, with_scores);
end
