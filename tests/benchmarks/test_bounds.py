"""The simulation of confidence bounds: what it draws, its reference bounds, and its page."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bounds import references
from benchmarks.bounds.cases import CASES, EQUAL, WEIGHTS, Case
from benchmarks.bounds.page import BOUNDS, render
from benchmarks.bounds.simulation import Simulation, simulate

HEADER = {
    "command": "python -m benchmarks.bounds",
    "started": "now",
    "settings": {"draws": 20},
    "machine": {"cpu": "x", "cores": 1, "usable_cores": 1, "memory_gib": 1, "system": "x", "load_average": [0, 0, 0]},
    "source": {
        "commit": "0",
        "changed_files": [],
        "comboost_digest": "0",
        "comboost_differs_from_repository_in": [],
    },
    "versions": {"python": "3"},
}


def test_cases_differ_and_are_confusion_matrices():
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        confusion = case.confusion
        assert confusion.shape == (case.n_classes, case.n_classes)
        assert not np.diagonal(confusion).any()
        assert (confusion >= 0).all()
        assert (confusion.sum(axis=1) <= 1 + 1e-9).all()
        assert [sum(n for _, n in groups) for groups in case.groups] == case.sizes.tolist()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_draws_have_the_sizes_and_on_average_the_matrix_of_the_case(weights):
    simulation = Simulation(Case("diffuse", 3, "100 each", weights))
    draws, times = simulation.draw(2_000)
    assert times.sum() == 2_000
    for counts, groups in zip(draws, simulation.groups, strict=True):
        np.testing.assert_array_equal(counts.sum(axis=2), [[n for _, n in groups]] * len(counts))
    mean = np.average(simulation.read(draws).confusion, axis=0, weights=times)
    np.testing.assert_allclose(mean, simulation.truth, atol=0.02)  # standard errors are below 0.003


@given(st.integers(0, 2**32 - 1))
def test_reference_bounds_hold_for_every_matrix_of_their_confidence_sets(seed):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 6))
    counts = rng.integers(0, 20, (n_classes, n_classes)) + 30.0 * np.eye(n_classes)
    sizes, n_entries = counts.sum(axis=1), n_classes * (n_classes - 1)
    each = 0.05 / (n_entries + n_classes)
    upper = references.entries_upper(counts, each)
    wrong = sizes - np.diagonal(counts)
    rows = [float(references.proportions_upper(np.array([w]), n, each)[0]) for w, n in zip(wrong, sizes, strict=True)]
    confusion = upper * rng.choice([0.0, 0.5, 1.0], upper.shape)
    confusion *= np.minimum(1.0, rows / np.maximum(confusion.sum(axis=1), 1e-300))[:, np.newaxis]
    norm = np.linalg.norm(confusion, 2)
    assert norm <= references.entrywise_and_rows(counts[np.newaxis], 0.05)[0] + 1e-9
    lower = references.entries_upper(counts, 0.05 / n_entries) * rng.random(upper.shape)
    assert np.linalg.norm(lower, 2) <= references.entrywise(counts[np.newaxis], 0.05)[0] + 1e-9


def test_page_answers_from_what_was_simulated():
    shape = (10, "1 000 to 20")
    cases = [Case("diffuse", *shape), Case("least favourable", *shape), Case("diffuse", *shape, "1 to 64")]
    entries = [simulate(case, 20) for case in cases]
    for case, entry in zip(cases, entries, strict=True):
        assert set(BOUNDS) <= set(entry["bounds"])
        assert ("norm, entrywise" in entry["bounds"]) == (case.weights == EQUAL)
    speed = ({}, [{"classes": 2, "samples": n, "recall_bounds": 1.0, "confusion_norm_bound": n / 10} for n in (40, 90)])
    page = render((HEADER, entries), speed)
    assert "at most 4 ms for 40 samples, and 9 ms for 90" in page
    assert "none is significantly below nominal" in page
    for entry in entries:
        entry["bounds"]["G-mean"]["held"] = 0
    assert "SOME ARE BELOW NOMINAL" in render((HEADER, entries), speed)
