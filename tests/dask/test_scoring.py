"""The accuracy of a model on a cluster is that of the local model, with weights too."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost.dask import DaskCoMBoClassifier, DaskConfusionBoostingClassifier

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(60, 3))
LABELS = np.digitize(ROWS.sum(axis=1) + RANDOM.normal(size=60), [-1.0, 1.0])
WEIGHTS = np.where(LABELS == 0, 4.5, RANDOM.integers(0, 3, 60))
KINDS = {
    "combo": (CoMBoClassifier(n_estimators=3, max_depth=1), DaskCoMBoClassifier()),
    "confusion": (
        ConfusionBoostingClassifier(n_estimators=3, smoothing=5, max_depth=1),
        DaskConfusionBoostingClassifier(),
    ),
}
COLLECTIONS = {
    "arrays": lambda values: da.from_array(values, chunks=(17, *values.shape[1:])),
    "frames": lambda values: dd.from_pandas(
        pd.DataFrame(values) if values.ndim == 2 else pd.Series(values), npartitions=3
    ),
    "local": lambda values: values,
}


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_score_weighs_the_samples(kind, collection):
    local, model = KINDS[kind]
    make = COLLECTIONS[collection]
    vars(model).update(vars(local.fit(ROWS, LABELS)))  # a fit on a cluster gives the same attributes
    is_right = local.predict(ROWS) == LABELS
    expected = np.average(is_right, weights=WEIGHTS)
    assert abs(expected - is_right.mean()) > 0.01
    score = model.score(make(ROWS), make(LABELS), sample_weight=make(WEIGHTS))
    assert score == pytest.approx(expected, rel=1e-12)
    assert score == model.score(make(ROWS), make(LABELS), make(WEIGHTS)) == local.score(ROWS, LABELS, WEIGHTS)
    assert model.score(make(ROWS), make(LABELS)) == is_right.mean()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(make(ROWS), make(LABELS), sample_weight=make(WEIGHTS[:-1]))
