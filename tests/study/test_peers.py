"""Peers are constructed as their libraries expect."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from comboost.study.peers import LIGHTGBM, PEERS

INSTALLED = [pytest.param(peer, id=name) for name, peer in PEERS.items() if peer.is_installed]


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(0)
    return draw.normal(size=(120, 3)), np.repeat([0, 1, 2], [80, 30, 10])


@pytest.mark.parametrize("peer", INSTALLED)
def test_peer_fits_the_rounds_that_are_given(peer, table):
    X, y = table
    model = peer.make(1, n_rounds=3, **peer.unstopped)
    # PerpetualClassifier leaves parameters of its base class out of get_params.
    assert model.get_params().get(peer.rounds, getattr(model, peer.rounds, None)) == 3
    model.fit(X, y, **peer.weights(y))
    assert set(np.ravel(peer.predict(model, X, 1))) <= {0, 1, 2}


@pytest.mark.parametrize("peer", INSTALLED)
def test_unbalanced_peer_has_no_class_weights(peer):
    parameters = peer.make(1, balanced=False).get_params()
    assert not [name for name, value in peer.balanced.items() if parameters.get(name) == value]


def test_balanced_weights_give_every_class_the_same_sum(table):
    _, y = table
    for peer in PEERS.values():
        for weights in peer.weights(y).values():
            assert np.bincount(y, weights) == pytest.approx(np.full(3, len(y) / 3))


@pytest.mark.parametrize("peer", [param for param in INSTALLED if param.values[0].callback is not None])
def test_callback_ends_the_fit(peer, table):
    calls = []
    callbacks = {"callbacks": [peer.callback(lambda: bool(calls.append(None)) or len(calls) == 4)]}
    model = peer.make(1, n_rounds=9, **(callbacks if peer.name == "XGBoost" else {}))
    model.fit(*table, **({} if peer.name == "XGBoost" else callbacks))
    assert len(calls) == 4


STOPPABLE = [param for param in INSTALLED if param.values[0].patience is not None]


@pytest.mark.parametrize("peer", STOPPABLE)
def test_early_stopping_ends_the_fit_on_noise(peer, table):
    X, y = table
    model = peer.fit_stopped(X, y, 1, n_rounds=2000, patience=5)
    n_rounds = {
        "LightGBM": lambda: model.booster_.current_iteration(),
        "XGBoost": lambda: model.get_booster().num_boosted_rounds(),
        "CatBoost": lambda: model.tree_count_,
        "HistGradientBoosting": lambda: model.n_iter_,
    }[peer.name]()
    assert n_rounds < 1000
    assert model.predict_proba(X).shape == (len(y), 3)


def test_early_stopping_holds_out_a_balanced_stratified_tenth(table):
    class Recorder:
        def __init__(self, **parameters):
            self.parameters = parameters

        def fit(self, X, y, **arguments):
            return self, X, y, arguments

    peer = replace(LIGHTGBM, validation=lambda X, y, weights: {"held_out": (X, y, weights)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("comboost.study.peers.import_module", lambda _: SimpleNamespace(LGBMClassifier=Recorder))
        model, X, y, arguments = peer.fit_stopped(*table, 1, n_rounds=7, patience=2)
    X_val, y_val, weights = arguments["held_out"]
    assert model.parameters["n_estimators"] == 7
    assert model.parameters["early_stopping_round"] == 2
    assert np.bincount(y).tolist() == [72, 27, 9]
    assert np.bincount(y_val).tolist() == [8, 3, 1]
    assert np.bincount(y_val, weights) == pytest.approx(np.full(3, 4))
    assert sorted(map(tuple, np.vstack([X, X_val]))) == sorted(map(tuple, table[0]))


def test_missing_library_is_reported():
    missing = [peer for peer in PEERS.values() if not peer.is_installed]
    assert all("cannot be imported" in peer.why_missing() for peer in missing)
    assert PEERS["HistGradientBoosting"].why_missing() is None
