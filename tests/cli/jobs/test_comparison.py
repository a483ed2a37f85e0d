"""Peers get tables they accept, and verdicts follow from the intervals."""

import numpy as np
import pandas as pd
import pytest
from cli.helpers import columns_of
from threadpoolctl import threadpool_info

from comboost import CoMBoClassifier
from comboost._estimators.parameters import n_threads_of
from comboost.cli.jobs.comparison import (
    COMPARED,
    ComparedClassifier,
    PeerClassifier,
    describe_differences,
    make_candidates,
    plain_columns,
)
from comboost.cli.jobs.settings import OURS, Settings, make_estimator
from comboost.cli.terminal.options import NOT_SEARCHED
from comboost.study.peers import PEERS, Peer


def test_hist_gradient_boosting_takes_any_number_of_categories():
    X = pd.DataFrame({"code": pd.Categorical(np.arange(600) % 300), "few": pd.Categorical(np.arange(600) % 3)})
    y = np.arange(600) % 2
    rows = plain_columns(X)
    peer = PeerClassifier("HistGradientBoosting").fit(rows, y)
    assert set(peer.predict(rows)) <= {0, 1}
    assert peer.model_.is_categorical_.tolist() == [False, True]


def test_peers_get_column_names_that_all_accept():
    table = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["heat", "load [%]", "load {%}"])
    assert list(plain_columns(table)) == ["heat", "load_", "load__3"]


class ThreadCounter:
    """A model that only counts the threads of OpenMP and of linear algebra."""

    def fit(self, X, y):
        self.seen = {pool["num_threads"] for pool in threadpool_info()}

    def predict(self, X):
        self.fit(X, None)
        return np.zeros(len(X))


@pytest.mark.parametrize("n_jobs", [1, None, 2])
def test_peers_get_the_threads_that_are_given(frame, monkeypatch, n_jobs):
    given = []

    class Counted(Peer):
        def make(self, n_threads, **parameters):
            given.append(n_threads)
            return ThreadCounter()

    monkeypatch.setitem(PEERS, "It", Counted("It", "sklearn", "", "scikit-learn"))
    X, y = columns_of(frame)
    before = threadpool_info()
    peer = PeerClassifier("It", n_jobs).fit(X, y)
    wanted = n_threads_of(n_jobs)
    assert (given, peer.model_.seen) == ([wanted], {wanted})
    peer.predict(X)
    assert peer.model_.seen == {wanted}
    assert threadpool_info() == before


@pytest.mark.parametrize("name", COMPARED)
def test_peers_take_categories_dates_and_missing_values(frame, name, monkeypatch):
    peer = PEERS[name]
    pytest.importorskip(peer.module, reason=f"{peer.package} is not installed")
    make = Peer.make
    monkeypatch.setattr(Peer, "make", lambda *given, **options: make(*given, **options, n_rounds=3))
    X, y = columns_of(frame)
    X = X.assign(day=pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(X)), "D"))
    X.loc[7, "day"] = pd.NaT
    fitted = PeerClassifier(name).fit(plain_columns(X), y)
    assert set(fitted.predict(plain_columns(X))) <= set(y)


def test_no_search_holds_for_confusion_boosting_wherever_it_stands():
    for first in ("combo", "confusion"):
        settings = Settings(first, defaults=NOT_SEARCHED)
        candidates = make_candidates(make_estimator(settings), [], settings.defaults)
        assert next(iter(candidates)) == OURS[first]
        assert NOT_SEARCHED.items() <= candidates["ConfusionBoosting"].get_params().items()
        assert candidates["CoMBo"].get_params() == CoMBoClassifier(random_state=0).get_params()


def compared(name, verdict):
    return ComparedClassifier(name, {}, 0.0, 0.0, 0.0, 0.0, verdict=verdict)


def test_verdict_follows_from_the_intervals():
    said = describe_differences([compared("A", None), compared("B", "higher"), compared("C", "not_significant")], 5)
    assert "of A is significantly higher than that of B; not distinguishable from that of C (" in said
    assert "lower" not in said
    said = describe_differences([compared("A", None), *(compared(name, "lower") for name in "DE")], 5)
    assert "significantly lower than that of D and E (" in said
