"""Estimators for scikit-learn that are computed by purlin; they need scikit-learn 1.6 or newer.

    from purlin.sklearn import PCA

    steps = make_pipeline(StandardScaler(), PCA(20, context="cuda"), LogisticRegression())

`TruncatedSVD`, `PCA`, `SpectralEmbedding` and `SpectralClustering` have the parameters, attributes, signs and messages of
the classes of scikit-learn with these names; `RobustPCA` is a PCA of data with outliers. They can be cloned and pickled,
and are steps of pipelines and searches.

These differ from scikit-learn:

- A parameter that cannot take effect is refused by name in `fit`, where scikit-learn ignores it. `copy`, `verbose` and
  `power_iteration_normalizer` do not exist: data are never overwritten, and bases are always orthonormalized.
- `random_state=None` is the seed 0: equal calls give equal results.
- `context` is a `purlin.Context`, or "cpu" or "cuda" for one that each fit makes; None is the default context. Copies and
  pickles keep a word, but have None in place of a `Context`.
- `options` is a dictionary of further options of purlin. Each class names the function that takes them.
"""

from ._low_rank import PCA, TruncatedSVD
from ._robust import RobustPCA
from ._spectral import SpectralClustering, SpectralEmbedding

__all__ = ["PCA", "RobustPCA", "SpectralClustering", "SpectralEmbedding", "TruncatedSVD"]
