"""skops: whatever an estimator holds, nothing but the estimator's own class has to be trusted."""

import numpy as np
import pandas as pd
import pytest
import skops.io
from models import everything
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import comboost
from comboost import baselines

ESTIMATORS = [
    getattr(module, name) for module in (comboost, baselines) for name in module.__all__ if name[-4:] == "fier"
]
for_estimators = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)


def rich_table():
    """Numbers, missing ones, text, dates and more categories than codes; three classes of text."""
    random = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame(
        {
            "number": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n)),
            "word": random.choice(["red", "green", "größe"], n),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(random.integers(0, 90, n), unit="D"),
            "many": pd.Categorical(random.integers(0, 400, n).astype(str)),
        }
    )
    return frame, random.choice(["ash", "elm", "fir"], n)


def assert_trusts_alone(model, names):
    stored = skops.io.dumps(model)
    assert skops.io.get_untrusted_types(data=stored) == names
    return skops.io.loads(stored, trusted=names)


@for_estimators
def test_fitted_estimators_need_no_trust_but_in_their_class(kind):
    frame, y = rich_table()
    X = frame[["number"]].fillna(0.0) if kind is baselines.SMOTEBoostClassifier else frame  # it needs neighbours
    costs = {"cost_matrix": {"ash": 1, "elm": 2.5, "fir": np.float32(3)}} if hasattr(kind(), "cost_matrix") else {}
    model = kind(n_estimators=4, random_state=np.int64(3), **costs).fit(X, y)
    found = assert_trusts_alone(model, [f"{kind.__module__}.{kind.__name__}"])
    assert everything(found) == everything(model)
    assert found.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


@for_estimators
def test_parameters_of_every_kind_need_no_trust(kind):
    model = kind()
    values = [np.float64(0.5), np.arange(3.0), {"a": [1, (2.0, None)]}, "text", np.array(["a", "b"]), np.int8(2)]
    for name, value in zip(sorted(model.get_params()), values * 10, strict=False):
        model.set_params(**{name: value})
    found = assert_trusts_alone(model, [f"{kind.__module__}.{kind.__name__}"])
    assert repr(found.get_params()) == repr(model.get_params())


@for_estimators
def test_pipelines_need_no_more_trust(kind):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    model = make_pipeline(MinMaxScaler(), kind(n_estimators=2)).fit(X, y)
    found = assert_trusts_alone(model, [f"{kind.__module__}.{kind.__name__}"])
    assert found.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
