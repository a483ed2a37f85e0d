"""Which features matter to a class. In: a booster. Out: class importances, of the features that matter most."""

from typing import Any

import numpy as np

from comboost._data.labels import objects_of
from comboost.report._heart import Heart
from comboost.report._wording import text_of

MOST_FEATURES = 12
SHARE_OF_VARIANCE = (
    "The share of a feature in what the splits take from the variance of the votes for a class, on the training rows."
)


def describe_importances(heart: Heart) -> tuple[dict[str, Any] | None, str | None]:
    """The importances of the features that matter most, or why there are none."""
    booster = heart.booster
    if booster is None:
        return None, f"{heart.refusal}, and does not say which features matter to a class."
    by_class = getattr(booster, "class_importances_", None)
    if by_class is None:
        return None, "Only built-in trees of this version say which features matter to a class."
    overall = booster.feature_importances_
    names = heart.feature_names
    chosen = features_by_importance(heart)[:MOST_FEATURES]
    return {
        "features": [names[f] for f in chosen],
        "classes": [text_of(label) for label in objects_of(booster.classes_)],
        "values": by_class[:, chosen].tolist(),
        "overall": overall[chosen].tolist(),
        "n_features": len(overall),
        "meaning": SHARE_OF_VARIANCE,
    }, None


def features_by_importance(heart: Heart) -> list[int]:
    """All features, the most important first; in their order if nothing is known of that."""
    found = getattr(heart.estimator, "feature_importances_", None)
    if found is None or np.shape(found) != (heart.table.n_features,):
        return list(range(heart.table.n_features))
    order: list[int] = np.argsort(-np.asarray(found, dtype=np.float64), kind="stable").tolist()
    return order
