"""Shared by the tests of norms: every algorithm and loss with every norm, problems of them, and bad norms of users."""

import dataclasses
import math

import numpy as np
import pytest
from boosters import make_booster
from hypothesis import strategies as st
from reference import norm_reference as reference
from strategies import problems

OWN = {
    "own of pairs": reference.EntryNorm(3),
    "own of classes": reference.EntryNorm(3, "classes"),
    "own of both": reference.EntryNorm(1.5, "both"),
    "own of singular values": reference.SchattenNorm(6),
}
NORMS, SMOOTH = reference.NORMS | OWN, reference.SMOOTH | OWN
LOSSES = ("exponential", "logistic", "log")

#: Algorithm, loss and norm, all that go together, except where a single pass sums the losses.
KINDS = [("combo", "exponential", norm) for norm in NORMS if norm != "entrywise"]
KINDS += [
    ("confusion", loss, norm)
    for loss in LOSSES
    for norm in NORMS
    if (loss == "logistic" or norm != "entrywise") and (loss != "log" or NORMS[norm].of != "pairs")
]
#: Some of them, with every algorithm, loss and sort of norm.
FEW = [("combo", "exponential", norm) for norm in ("spectral", "worst-class", "own of pairs")]
FEW += [("confusion", "exponential", "schatten-4"), ("confusion", "logistic", "entrywise")]
FEW += [("confusion", "log", "l2-class")]


def for_kinds(kinds):
    """Parametrise a test by kinds."""
    return pytest.mark.parametrize("kind", kinds, ids="-".join)


def parameters_of(kind):
    """The parameters of an estimator of this kind."""
    algorithm, loss, norm = kind
    return {"norm": OWN.get(norm, norm)} | ({"loss": loss} if algorithm == "confusion" else {})


def make(kind, **parameters):
    """An estimator of this kind that runs few rounds."""
    return make_booster(kind[0], **(parameters_of(kind) | {"n_estimators": 4} | parameters))


# Samples


def make_mixed_rows(n_samples, n_classes, seed=0):
    """Classes of unequal size that overlap; some pairs of them are confused more often than others."""
    random = np.random.default_rng(seed)
    p = 0.5 ** np.arange(n_classes)
    y = np.concatenate([np.arange(n_classes), random.choice(n_classes, size=n_samples - n_classes, p=p / p.sum())])
    X = random.normal(size=(n_samples, 4))
    X[:, 0] += y
    X[:, 1] += y % 2
    return X, y


def norm_settings(n_features, *, max_rounds):
    """Draw a kind, and settings of it."""

    def settings_of(kind):
        drawn = {
            "algorithm": st.just(kind[0]),
            "kind": st.just(kind),
            "n_estimators": st.integers(1, max_rounds),
            "learning_rate": st.sampled_from([1.0, 0.5, 0.1]),
            "max_depth": st.sampled_from([3, 1, 2, None]),
            "min_weight_fraction_leaf": st.sampled_from([0.0, 0.1]),
        }
        if kind[0] == "confusion":
            drawn["balance"] = st.sampled_from([1.0, 0.5, 0.0])
            drawn["smoothing"] = st.sampled_from([1.0, 0.0, 0.01, 10.0])
            drawn["max_leaf_nodes"] = st.sampled_from([None, 4])
        return st.fixed_dictionaries(drawn)

    return st.sampled_from(KINDS).flatmap(settings_of)


@st.composite
def norm_problems(draw, **options):
    """Draw a kind, and a problem of it whose weights are exact integers."""
    problem = draw(problems(**{"draw_settings": norm_settings, "max_rounds": 6, "weighted": False} | options))
    kind = problem.settings.pop("kind")
    problem = problem.with_settings(**parameters_of(kind))
    if draw(st.booleans()):
        weights = draw(st.lists(st.integers(1, 9), min_size=len(problem.y), max_size=len(problem.y)))
        problem = dataclasses.replace(problem, sample_weight=np.array(weights, dtype=float))
    return kind, problem


# Bad norms


class Own(reference.EntryNorm):
    """The 2-norm, of which a method returns something else after some calls."""

    def __init__(self, of="pairs", after=0, **returned):
        super().__init__(2, of)
        self.left = dict.fromkeys(returned, after)
        self.returned = returned

    def value(self, A):
        return self.answer("value", super().value(A))

    def gradient(self, A):
        return self.answer("gradient", reference.EntryNorm(2, self.of).gradient(A))

    def answer(self, name, answer):
        if name not in self.returned:
            return answer
        self.left[name] -= 1
        return answer if self.left[name] >= 0 else self.returned[name](answer)


#: What a method returns in place of an answer, and the message.
BAD = {
    "negative gradient": ({"gradient": lambda G: -G}, r"gradient\(A\) has the entry -\d.*not negative"),
    "NaN gradient": ({"gradient": lambda G: np.where(G.max() == G, np.nan, G)}, "gradient.* has the entry nan.*finite"),
    "infinite gradient": ({"gradient": lambda G: G + np.inf}, r"gradient\(A\) has the entry inf; expected finite"),
    "gradient of a shape": (
        {"gradient": lambda G: G[:-1]},
        r"gradient\(A\) returned an array of shape \(2.*shape of A",
    ),
    "gradient of zeros": ({"gradient": lambda G: 0 * G}, r"gradient\(A\) is 0 wherever A is positive"),
    "gradient of words": ({"gradient": lambda G: "steep"}, r"gradient\(A\) returned 'steep'; expected an array"),
    "negative value": ({"value": lambda value: -value}, r"value\(A\) returned -\d.*not negative"),
    "NaN value": ({"value": lambda value: math.nan}, r"value\(A\) returned nan; expected a finite number"),
    "infinite value": ({"value": lambda value: math.inf}, r"value\(A\) returned inf; expected a finite number"),
    "no value": ({"value": lambda value: None}, r"value\(A\) returned None; expected a finite number"),
}

#: What is no norm, the error and the message.
NO_NORM = {
    "unknown": ("frobenious", ValueError, "norm='frobenious' is unknown; use one of 'entrywise', 'frobenius', "),
    "nuclear": ("nuclear", ValueError, "norm='nuclear' is not available. The nuclear norm is not monotone, so "),
    "None": (None, TypeError, r"norm is None, which lacks value\(A\) and gradient\(A\); use one of 'entrywise'"),
    "number": (2, TypeError, r"norm is 2, which lacks value\(A\) and gradient\(A\); use one of 'entrywise'"),
    "class": (reference.EntryNorm, TypeError, "norm is the class EntryNorm, not an object of it; use one of"),
    "of samples": (Own(of="samples"), ValueError, "norm Own: its attribute of is 'samples'; use 'pairs' .* 'classes'"),
}
