"""Ctrl-C: long native calls end, whatever they are at; a fit is done or has changed nothing, wherever it is cut off."""

import copy
import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from itertools import count, starmap

import numpy as np
import pytest
from boosters import NAMES, for_kinds, make_booster, make_rows, unchanged

from comboost import CoMBoClassifier, _core
from comboost._engine.binning import BinMapper
from comboost._engine.losses import Loss
from comboost._engine.rows import ShardRows, TreeRules, make_grower
from comboost._estimators import base
from comboost._types import COMPLETE, KIND
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier

N_ROWS, N_FEATURES, N_CLASSES = 50_000, 2_000, 50
BASELINES = [AdaBoostNCClassifier, SMOTEBoostClassifier]

for_baselines = pytest.mark.parametrize("booster", BASELINES)


@pytest.fixture(autouse=True)
def look_at_once():
    """Calls look for signals as often as they can, and no thread takes the GIL from one that holds it."""
    interval, handler = sys.getswitchinterval(), signal.getsignal(signal.SIGINT)
    sys.setswitchinterval(1000.0)
    _core.poll_signals(every=0.0)
    yield
    _core.poll_signals()
    signal.signal(signal.SIGINT, handler)
    sys.setswitchinterval(interval)


def send_interrupt_during(call, handler):
    """Do something, to which SIGINT is sent as soon as it lets go of the GIL: within its first long native call."""
    signal.signal(signal.SIGINT, handler)
    begun = threading.Event()

    def send():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        begun.set()
        return call()
    finally:
        sender.join()


# Calls that would take seconds each. Values and codes are all the same, and take no memory.


def long_values():
    column = np.random.default_rng(0).normal(size=N_ROWS)
    return np.broadcast_to(column[:, np.newaxis], (N_ROWS, N_FEATURES))


def find_edges(n_threads):
    return _core.find_edges, (long_values(), None, 255, n_threads)


def find_weighted_edges(n_threads):
    return _core.find_edges, (long_values(), np.ones(N_ROWS, dtype=np.uint32), 255, n_threads)


def find_edges_of_a_column(n_threads):
    return _core.find_edges, (np.broadcast_to(np.float32(1.0), (20_000_000, 1)), None, 255, n_threads)


def encode(n_threads):
    edges, starts = np.tile(np.linspace(-2, 2, 254), N_FEATURES), np.arange(0, 254 * N_FEATURES + 1, 254)
    kinds, codes = np.full(N_FEATURES, COMPLETE, dtype=KIND), np.empty((N_FEATURES, N_ROWS), dtype=np.uint8)
    return _core.encode, (long_values(), edges, starts, kinds, n_threads, codes)


def count_cells(n_threads):
    lows, highs = np.zeros(N_FEATURES, dtype=np.uint64), np.full(N_FEATURES, 2**64 - 1, dtype=np.uint64)
    shifts, starts = np.full(N_FEATURES, 50, dtype=np.uint8), np.arange(N_FEATURES + 1)
    return _core.count_cells, (long_values(), None, lows, highs, shifts, starts, n_threads)


def add_scores(n_threads, max_depth=3):
    """Many times the same tree."""
    X, y = make_rows(200, 0)
    forest = CoMBoClassifier(n_estimators=1, max_depth=max_depth).fit(X, y)._forest
    n_trees, n_nodes = 20_000, len(forest.nodes)
    many = replace(
        forest,
        nodes=np.tile(forest.nodes, n_trees),
        covers=None,
        offsets=np.arange(0, n_trees * n_nodes + 1, n_nodes),
        weights=np.ones(n_trees),
    )
    values, scores = np.resize(X, (20_000, X.shape[1])), np.zeros((20_000, 3))
    return many.add_scores, (values, False, scores, 0, n_trees, n_threads)


def add_votes_of_deep_trees(n_threads):
    return add_scores(n_threads, max_depth=None)


def count_histograms(n_threads):
    labels = np.arange(N_ROWS, dtype=np.uint16) % N_CLASSES
    edges = [np.arange(16.0)] * N_FEATURES  # too many bins to share codes
    grower = make_grower(
        BinMapper.of(edges, np.zeros(N_FEATURES, dtype=np.uint8)),
        N_CLASSES,
        TreeRules(3, "gini", 1, 0.0, N_FEATURES, 0),
    )
    codes, loss = np.zeros((N_FEATURES, N_ROWS), dtype=np.uint8), Loss(1.0 - np.eye(N_CLASSES), None, 0)
    rows = ShardRows(labels, None, loss, codes, grower, n_threads)
    rows.quantise(None, None, 10)
    return rows.count, (np.zeros(1, dtype=np.int32),)


LONG_CALLS = [
    *(find_edges, find_weighted_edges, find_edges_of_a_column, encode, count_cells),
    *(add_scores, add_votes_of_deep_trees, count_histograms),
]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("make", LONG_CALLS)
def test_long_native_call_ends_with_what_the_handler_raises(make, n_threads):
    function, arguments = make(n_threads)
    results = []
    # Between the call and the list there is no Python in which the signal could be handled after a call that went on.
    with pytest.raises(KeyboardInterrupt) as raised:
        send_interrupt_during(
            lambda: results.extend(starmap(function, [arguments])), handler=signal.default_int_handler
        )
    assert results == []
    assert raised.value.__context__ is None  # the arguments were not refused


def medium_edges(n_threads):
    return [edges.tobytes() for edges, *_ in _core.find_edges(long_values()[:, :20], None, 255, n_threads)]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_call_goes_on_after_a_handler_that_returns_even_if_it_makes_such_a_call_itself(n_threads):
    expected, answers = medium_edges(1), []
    found = send_interrupt_during(
        lambda: medium_edges(n_threads), handler=lambda *_: answers.append(medium_edges(n_threads))
    )
    assert [found, *answers] == [expected] * 2


def test_calls_in_other_threads_leave_signals_to_the_main_thread():
    expected, found, handled = medium_edges(1), [], []

    def call_elsewhere():
        thread = threading.Thread(target=lambda: found.append(medium_edges(2)))
        thread.start()
        thread.join()

    send_interrupt_during(call_elsewhere, handler=lambda *_: handled.append(threading.current_thread()))
    assert found == [expected]
    assert handled == [threading.main_thread()]


@for_baselines
def test_interrupted_fit_of_a_baseline_leaves_the_very_same_objects(booster):
    model = booster(n_estimators=2, random_state=0).fit(*make_rows(60, 0))
    assert_interrupt_leaves(model)


@for_kinds
def test_interrupted_fit_leaves_the_very_same_objects(algorithm, learner):
    assert_interrupt_leaves(make_booster(algorithm, learner, n_estimators=2).fit(*make_rows(60, 0)))


def assert_interrupt_leaves(model):
    X, y = long_values(), NAMES[np.arange(N_ROWS) % 3]
    with unchanged(model), pytest.raises(KeyboardInterrupt) as raised:
        send_interrupt_during(lambda: model.fit(X, y), handler=signal.default_int_handler)
    assert not isinstance(raised.value.__context__, ValueError | TypeError)  # the table was not refused


# Fits that are cut off anywhere in the steps by which the new model takes its place


class CutOff:
    """A trace that interrupts some functions at one of the lines, or instructions ("opcode"), that they execute."""

    def __init__(self, functions, kind, n_before):
        self._codes = {function.__code__ for function in functions}
        self._kind = kind
        self._n_left = n_before

    def __enter__(self):
        self._outer = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_):
        sys.settrace(self._outer)

    def _enter(self, frame, event, argument):
        if frame.f_code not in self._codes:
            return None
        frame.f_trace_opcodes = self._kind == "opcode"
        return self._follow

    def _follow(self, frame, event, argument):
        if event == self._kind:
            self._n_left -= 1
            if self.has_cut:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._follow

    @property
    def has_cut(self):
        return self._n_left < 0


SWAP = [base.fit_atomically]


def is_same(model, attributes):
    """Whether a model has the very objects that it had."""
    now = list(vars(model).items())
    return len(now) == len(attributes) and all(
        a is b for pair in zip(now, attributes, strict=True) for a, b in zip(*pair, strict=True)
    )


def assert_all_or_nothing(make_old, fit, contents, kind):
    """Interrupt a second fit at every line or instruction of the swap."""
    new = make_old()
    old_state = base.state_hash(new.random_state)
    fit(new)
    new_state, ends = base.state_hash(new.random_state), set()
    assert new_state != old_state
    for n_before in count():
        model = make_old()
        attributes = list(vars(model).items())
        with CutOff(SWAP, kind, n_before) as cut, suppress(KeyboardInterrupt):
            fit(model)
        is_old = is_same(model, attributes)
        assert is_old or contents(model) == contents(new)
        assert model.random_state is dict(attributes)["random_state"]
        state = base.state_hash(model.random_state)
        assert state == old_state or (state == new_state and not is_old)
        ends.add((is_old, state == old_state))
        if not cut.has_cut:
            break
    assert n_before > len(SWAP)
    assert {(True, True), (False, False)} <= ends


def test_swap_cut_off_at_any_instruction_has_done_all_or_nothing():
    def draw(fitted, settings):
        fitted.drawn_ = settings.random_state.randint(1000)

    def fit(model):
        base.fit_atomically(model, model._settings(), draw)

    assert_all_or_nothing(
        lambda: CoMBoClassifier(random_state=np.random.RandomState(0)), fit, lambda model: model.drawn_, "opcode"
    )


def assert_fit_does_all_or_nothing(booster):
    X, y = make_rows(60, 0)
    old = booster.set_params(random_state=np.random.RandomState(0), n_estimators=2).fit(X, y)
    assert_all_or_nothing(
        lambda: copy.deepcopy(old).set_params(n_estimators=3),
        lambda model: model.fit(X, y),
        lambda model: (list(vars(model)), model.n_iter_, model.stop_reason_, model.decision_function(X).tobytes()),
        "line",
    )


@for_kinds
def test_fit_cut_off_at_any_line_of_the_swap_has_done_all_or_nothing(algorithm, learner):
    assert_fit_does_all_or_nothing(make_booster(algorithm, learner))


@for_baselines
def test_fit_of_a_baseline_cut_off_at_any_line_of_the_swap_has_done_all_or_nothing(booster):
    assert_fit_does_all_or_nothing(booster())


@pytest.fixture
def alarms():
    """Sets what is called about every millisecond; at the end, nothing is."""
    before = signal.getsignal(signal.SIGALRM)

    def ring(handler):
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)

    yield ring
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("n_values", [3, 200])  # shared codes; rows of small nodes
def test_handler_that_fits_does_not_change_the_fit_that_it_interrupts(alarms, n_values):
    random = np.random.default_rng(0)
    X = random.integers(0, n_values, (20_000, 12)).astype(np.float32)
    y = (X[:, :3] + random.normal(size=(20_000, 3))).argmax(axis=1)
    booster = CoMBoClassifier(n_estimators=5, max_depth=8, n_jobs=1)
    expected = booster.fit(X, y)._forest.nodes.tobytes()
    calls = []

    def fit_another(*_):
        if not calls or calls[-1] == "done":  # handlers are interrupted, too
            calls.append("begun")
            CoMBoClassifier(n_estimators=2, max_depth=5).fit(X[:3_000, ::-1], y[:3_000])
            calls.append("done")

    alarms(fit_another)
    found = booster.fit(X, y)._forest.nodes.tobytes()
    assert len(calls) > 0
    assert found == expected
