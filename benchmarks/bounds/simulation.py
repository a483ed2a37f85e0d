"""Draws of test sets, and what the bounds are for them. In: a case. Out: coverage and mean of every bound."""

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._lib.store import Row
from benchmarks.bounds import references
from benchmarks.bounds.cases import EQUAL, Case
from comboost.metrics import (
    confusion_norm_bound,
    error_rate_bound,
    geometric_mean_bound,
    min_recall_bound,
    recall_bounds,
)
from comboost.metrics._confidence import (
    ClassSamples,
    geometric_mean_lower,
    largest_error_upper,
    mean_error_upper,
    norm_upper,
    simultaneous_error_upper,
)

Floats = NDArray[np.float64]

BATCH = 1_000  # draws at a time
ROUNDING = 1e-9
OBSERVED = "observed_norm"
REFERENCES_OF_COUNTS = ("norm, entrywise", "norm, entrywise and rows")  # not for weighted samples
CHECKED = 1e-6  # relative difference that the bounds of one draw may have from those of many


class Simulation:
    """Draws of a case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.rng = np.random.default_rng(zlib.crc32(case.name.encode()))
        self.groups = case.groups
        self.truth = case.confusion
        self.errors = np.minimum(self.truth.sum(axis=1), 1.0)  # rounding may exceed 1
        self.uniform = np.full(case.n_classes, 1.0 / case.n_classes)
        self.by_size = case.sizes / case.sizes.sum()
        totals = np.array([sum(weight * n for weight, n in groups) for groups in self.groups])
        squares = np.array([sum(weight**2 * n for weight, n in groups) for groups in self.groups])
        self.totals, self.sizes = totals, totals**2 / squares
        self.is_binomial = np.array([len(groups) == 1 for groups in self.groups])

    def draw(self, n_draws: int) -> tuple[list[Floats], NDArray[np.intp]]:
        """Distinct numbers of predictions, of shape (draws, groups, K) for every class, and how often each arose."""
        probabilities = self.truth + np.diag(1.0 - self.errors)
        draws = [
            np.stack([self.rng.multinomial(n, row, size=n_draws) for _, n in groups], axis=1)
            for row, groups in zip(probabilities, self.groups, strict=True)
        ]
        every = np.concatenate(draws, axis=1)
        distinct, times = np.unique(every.reshape(n_draws, -1), axis=0, return_counts=True)
        parts = np.cumsum([len(groups) for groups in self.groups])[:-1]
        return np.split(distinct.reshape(-1, *every.shape[1:]).astype(np.float64), parts, axis=1), times

    def read(self, draws: list[Floats]) -> ClassSamples:
        """Confusion matrices of the draws."""
        rows = [
            np.einsum("dgk,g->dk", counts, [weight for weight, _ in groups]) / total
            for counts, groups, total in zip(draws, self.groups, self.totals, strict=True)
        ]
        confusion = np.stack(rows, axis=1)
        confusion[:, range(self.case.n_classes), range(self.case.n_classes)] = 0.0
        return ClassSamples(confusion, self.sizes, self.is_binomial)

    def truths(self) -> dict[str, float | Floats]:
        """The true values of what is bounded."""
        norm = float(np.linalg.norm(self.truth, 2))
        return {
            "norm": norm,
            "error rate, any priors": float(self.errors.max()),
            "error rate, uniform priors": float(self.errors @ self.uniform),
            "error rate, priors of the samples": float(self.errors @ self.by_size),
            "recalls": 1.0 - self.errors,
            "smallest recall": float(1.0 - self.errors.max()),
            "G-mean": float(np.prod((1.0 - self.errors) ** self.uniform)),
            "norm, corollary": norm,
            "norm, entrywise": norm,
            "norm, entrywise and rows": norm,
            "G-mean, all recalls": float(np.prod((1.0 - self.errors) ** self.uniform)),
        }

    def bounds(self, samples: ClassSamples, counts: Floats | None) -> dict[str, Floats]:
        """All bounds of some draws; those of the references need counts."""
        eta = self.case.eta
        largest, all_errors = largest_error_upper(samples, eta), simultaneous_error_upper(samples, eta)
        bounds = {
            "norm": norm_upper(samples, eta),
            "error rate, any priors": largest,
            "error rate, uniform priors": mean_error_upper(samples, self.uniform, eta),
            "error rate, priors of the samples": mean_error_upper(samples, self.by_size, eta),
            "recalls": 1.0 - all_errors,
            "smallest recall": 1.0 - largest,
            "G-mean": geometric_mean_lower(samples, eta),
            "norm, corollary": references.corollary(samples.confusion, 1.0 / samples.sizes, eta),
            "G-mean, all recalls": np.prod((1.0 - all_errors) ** self.uniform, axis=-1),
        }
        if counts is not None:
            bounds["norm, entrywise"] = references.entrywise(counts, eta)
            bounds["norm, entrywise and rows"] = references.entrywise_and_rows(counts, eta)
        return bounds

    def batches(self, n_draws: int) -> Iterator[tuple[NDArray[np.intp], dict[str, Floats]]]:
        """How often draws arose, and their bounds and ‖C_S‖."""
        draws, times = self.draw(n_draws)
        for start in range(0, len(times), BATCH):
            batch = [counts[start : start + BATCH] for counts in draws]
            samples = self.read(batch)
            bounds = self.bounds(samples, np.concatenate(batch, axis=1) if self.case.weights == EQUAL else None)
            if start == 0:
                self.check(batch, bounds)
            yield times[start : start + BATCH], bounds | {OBSERVED: norms(samples.confusion)}

    def labels(self, draws: list[Floats]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """True labels, predicted labels and weights of the first draw."""
        true, pred, weight = [], [], []
        for label, (counts, groups) in enumerate(zip(draws, self.groups, strict=True)):
            for of_group, (each, n_samples) in zip(counts[0].astype(np.intp), groups, strict=True):
                true.append(np.full(n_samples, label))
                pred.append(np.repeat(np.arange(self.case.n_classes), of_group))
                weight.append(np.full(n_samples, each))
        return np.concatenate(true), np.concatenate(pred), np.concatenate(weight)

    def check(self, draws: list[Floats], bounds: dict[str, Floats]) -> None:
        """Raise if the public functions give other bounds for the labels of the first draw."""
        true, pred, weight = self.labels(draws)
        options: dict[str, Any] = {
            "eta": self.case.eta,
            "labels": np.arange(self.case.n_classes),
            "sample_weight": weight,
        }
        public: dict[str, Callable[[], float | Floats]] = {
            "norm": lambda: confusion_norm_bound(true, pred, **options),
            "norm, corollary": lambda: confusion_norm_bound(true, pred, method="corollary", **options),
            "error rate, any priors": lambda: error_rate_bound(true, pred, **options),
            "error rate, uniform priors": lambda: error_rate_bound(true, pred, priors=self.uniform, **options),
            "error rate, priors of the samples": lambda: error_rate_bound(true, pred, priors=self.by_size, **options),
            "recalls": lambda: recall_bounds(true, pred, **options),
            "smallest recall": lambda: min_recall_bound(true, pred, **options),
            "G-mean": lambda: geometric_mean_bound(true, pred, **options),
        }
        for name, function in public.items():
            np.testing.assert_allclose(function(), bounds[name][0], rtol=CHECKED, atol=CHECKED, err_msg=name)


def simulate(case: Case, n_draws: int) -> Row:
    """Coverage and mean of all bounds of a case."""
    simulation = Simulation(case)
    truths = simulation.truths()
    held, sums = dict.fromkeys(truths, 0), dict.fromkeys([*truths, OBSERVED], 0.0)
    for times, bounds in simulation.batches(n_draws):
        for name, bound in bounds.items():
            sums[name] += float(times @ bound.reshape(len(times), -1).mean(axis=1))
            if name != OBSERVED:
                held[name] += int(times @ holds(name, truths[name], bound))
    return {
        "case": case.name,
        "draws": n_draws,
        OBSERVED: round(sums.pop(OBSERVED) / n_draws, 6),
        "bounds": {
            name: {"truth": round(float(np.mean(truth)), 6), "mean": round(sums[name] / n_draws, 6), "held": held[name]}
            for name, truth in truths.items()
            if case.weights == EQUAL or name not in REFERENCES_OF_COUNTS
        },
    }


def norms(confusion: Floats) -> Floats:
    """Largest singular values."""
    return np.asarray(np.linalg.norm(confusion, 2, axis=(-2, -1)))


def holds(name: str, truth: float | Floats, bound: Floats) -> NDArray[np.bool_]:
    """For which draws a bound is right; bounds of all recalls are right together."""
    is_upper = name.startswith(("norm", "error rate"))
    right = bound >= truth - ROUNDING if is_upper else bound <= truth + ROUNDING
    return np.asarray(right.reshape(len(right), -1).all(axis=1))
