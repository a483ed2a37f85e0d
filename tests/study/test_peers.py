"""Peers are constructed as their libraries expect."""

import numpy as np
import pytest

from comboost.study.peers import PEERS

INSTALLED = [pytest.param(peer, id=name) for name, peer in PEERS.items() if peer.is_installed]


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(0)
    return draw.normal(size=(120, 3)), np.repeat([0, 1, 2], [80, 30, 10])


@pytest.mark.parametrize("peer", INSTALLED)
def test_peer_fits_the_rounds_that_are_given(peer, table):
    X, y = table
    model = peer.make(1, n_rounds=3, **peer.unstopped)
    assert model.get_params()[peer.rounds] == 3
    model.fit(X, y, **peer.weights(y))
    assert set(np.ravel(peer.predict(model, X, 1))) <= {0, 1, 2}


@pytest.mark.parametrize("peer", INSTALLED)
def test_unbalanced_peer_has_no_class_weights(peer):
    assert not set(peer.balanced.items()) & set(peer.make(1, balanced=False).get_params().items())


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


def test_missing_library_is_reported():
    missing = [peer for peer in PEERS.values() if not peer.is_installed]
    assert all("cannot be imported" in peer.why_missing() for peer in missing)
    assert PEERS["HistGradientBoosting"].why_missing() is None
