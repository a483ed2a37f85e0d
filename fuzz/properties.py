"""Properties that programs check: functions that raise an AssertionError which says what is violated.

Programs copy the text of the functions that they call, so nothing here may import this package.
"""

import contextlib
import copy
import dataclasses
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from fractions import Fraction
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.metrics import confusion_matrix
from typer.testing import CliRunner

import comboost.dask
from comboost import metrics
from comboost.cli.app import app

# State of a model


def state_of(value):
    """All that an object is made of, to be compared."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, np.ndarray):
        return "object", value.shape, repr(value.tolist())
    if isinstance(value, np.random.RandomState):
        return state_of(value.get_state(legacy=False))
    if isinstance(value, np.random.Generator):
        return state_of(value.bit_generator.state)
    if isinstance(value, dict):
        return [(repr(key), state_of(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [state_of(each) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, [
            state_of(getattr(value, part.name)) for part in dataclasses.fields(value) if part.init
        ]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return type(value).__name__, state_of(vars(value))
    return repr(value)


CURVES = ("estimator_weights_", "edges_", "loss_curve_", "bound_curve_", "train_confusion_", "feature_importances_")


def bits_of(model, X):
    """Every bit of a model that users can see, but for the names of its classes and features."""
    learned = [np.ascontiguousarray(getattr(model, name)).tobytes() for name in CURVES if hasattr(model, name)]
    votes = np.ascontiguousarray(model.decision_function(X))
    return [model.n_iter_, model.stop_reason_, *learned, votes.tobytes()]


class OwnNorm:
    """The 3-norm of the losses of pairs, or of classes; its gradient is wrong by a factor."""

    def __init__(self, of="pairs", factor=1.0):
        self.of = of
        self.factor = factor

    def value(self, A):
        """Norm of the losses."""
        largest = A.max()  # cubes of small losses would vanish
        return largest * ((A / largest) ** 3).sum() ** (1 / 3) if largest > 0 else 0.0

    def gradient(self, A):
        """Derivatives of the norm."""
        return self.factor * ((A / self.value(A)) ** 2 if A.any() else np.ones_like(A))


# Calls


def call_or_leave(model, method, *args, **kwargs):
    """Call a method; if that fails, the model must be as it was before."""
    before = state_of(vars(model))
    try:
        return method(*args, **kwargs)
    except Exception:
        assert state_of(vars(model)) == before, "a call that failed has changed the estimator"
        raise


def fit_or_leave(model, *args, **kwargs):
    """Fit; if that fails, the model must be as it was before."""
    return call_or_leave(model, model.fit, *args, **kwargs)


# Fitted models


def check_fit(model):
    """The curves of a fitted booster are finite, its loss is within the bound, and no round has made it worse."""
    for name in CURVES:
        assert np.isfinite(getattr(model, name, 0.0)).all(), f"{name} is not finite"
    if not hasattr(model, "loss_curve_"):
        return
    assert len(model.loss_curve_) == model.n_iter_ >= 1, "n_iter_ is not the length of loss_curve_"
    if model.stop_reason_ != "rounding":
        losses = model.loss_curve_ - 1e-9 * model.bound_curve_[0]  # logarithms are rounded, however small they are
        excess = (losses / np.maximum(model.bound_curve_, 1e-300)).max()
        assert excess <= 33 / 32, f"the loss is {excess:g} times its bound, and stop_reason_ is {model.stop_reason_!r}"
        room = 1.001  # the rounds of the spectral norm lower another norm, and constant prices their own sum
        if getattr(model, "norm", None) == "spectral" or hasattr(model, "class_prices_"):
            room = len(model.classes_)
        assert model.loss_curve_[-1] <= model.loss_curve_[0] * room, "the last round is worse than the first"


def check_answers(model, X):
    """Classes, scores and probabilities of rows fit together, and are numbers."""
    predicted = call_or_leave(model, model.predict, X)
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    n_classes = len(model.classes_)
    assert predicted.shape == (n_samples,), f"predict gives the shape {predicted.shape} for {n_samples} rows"
    assert probabilities.shape == (n_samples, n_classes), f"predict_proba gives the shape {probabilities.shape}"
    assert np.isfinite(scores).all(), "decision_function is not finite"
    assert np.isfinite(probabilities).all(), "predict_proba is not finite"
    assert ((probabilities >= 0) & (probabilities <= 1)).all(), "a probability is not within 0 and 1"
    assert np.allclose(probabilities.sum(axis=1), 1, rtol=0, atol=1e-6), "probabilities do not sum to 1"
    if getattr(model, "decision", "argmax") == "argmax":
        highest = scores.argmax(axis=1) if n_classes > 2 else (scores > 0).astype(int)
        assert [*model.classes_[highest].tolist()] == predicted.tolist(), "predict is not the highest score"
    logarithms = model.predict_log_proba(X)
    assert not np.isnan(logarithms).any(), "predict_log_proba is NaN"


def check_labels(model, y):
    """Every label is a class of its own, and what is no label has been refused."""
    labels = list(y.ravel() if isinstance(y, np.ndarray) else y.iloc[:, 0] if hasattr(y, "columns") else y)
    for each in labels:
        missing = each is None or each is np.ma.masked or str(each) in ("<NA>", "NaT") or each != each
        is_label = isinstance(each, str) or not (missing or isinstance(each, list))
        assert is_label, f"fit takes {each!r} for a label: {model.classes_.tolist()}"
    assert len(set(labels)) == len(model.classes_), (
        f"{len(set(labels))} labels have become the classes {model.classes_.tolist()}"
    )


# The same bits


def same(one, other, said):
    """Whether two models have the same bits."""
    assert len(one) == len(other), f"{said}: other attributes"
    assert one == other, f"{said}: not the same bits"


def same_for_any_threads(model, X, y, sample_weight=None):
    """The model does not depend on the number of threads."""
    bits = [bits_of(clone(model).set_params(n_jobs=n).fit(X, y, sample_weight), X) for n in (1, 2, 5)]
    same(bits[0], bits[1], "two threads")
    same(bits[0], bits[2], "five threads")


def same_for_any_order(model, X, y, sample_weight=None, seed=0):
    """The model does not depend on the order of the rows."""
    order = np.random.default_rng(seed).permutation(len(y))
    weight = None if sample_weight is None else sample_weight[order]
    mixed = clone(model).fit(X[order], y[order], weight)
    same(bits_of(clone(model).fit(X, y, sample_weight), X), bits_of(mixed, X), "rows in another order")


def with_settings(model):
    """A classifier that selects no settings."""
    known, given = model.get_params(), {"smoothing": 3.0, "max_depth": 3}
    return clone(model).set_params(**{name: value for name, value in given.items() if known.get(name) == "auto"})


def same_for_copies(model, X, y, counts):
    """Weight 2 is the row twice, and weight 0 is no row; but a search for settings counts rows, so these are given."""
    model = with_settings(model)
    rows = np.repeat(np.arange(len(y)), counts)
    if len(set(y[rows])) > 1:
        copied, weighted = clone(model).fit(X[rows], y[rows]), clone(model).fit(X, y, counts.astype(float))
        same_but_for_absent_classes(copied, weighted, X, "copies of rows instead of weights")


def same_without_weightless_rows(model, X, y, sample_weight):
    """Rows of weight 0 are no rows."""
    kept = sample_weight > 0
    if len(set(y[kept])) > 1:
        fewer, weighted = clone(model).fit(X[kept], y[kept], sample_weight[kept]), clone(model).fit(X, y, sample_weight)
        same_but_for_absent_classes(fewer, weighted, X, "without the rows of weight 0")


def same_but_for_absent_classes(fewer, more, X, said):
    """Two models have the same bits; a class without weight is known to one of them, and never voted for."""
    if len(fewer.classes_) == len(more.classes_):
        same(bits_of(fewer, X), bits_of(more, X), said)
        return
    assert fewer.loss_curve_.tobytes() == more.loss_curve_.tobytes(), f"{said}, with a class left out: other losses"
    assert fewer.predict(X).tolist() == more.predict(X).tolist(), f"{said}, with a class left out: other predictions"


def same_for_other_names(model, X, y, names, sample_weight=None):
    """The model does not depend on what the classes are called, if their order stays."""
    renamed = clone(model).fit(X, names[y], sample_weight)
    same(bits_of(clone(model).fit(X, y, sample_weight), X), bits_of(renamed, X), "classes of other names")


def same_for_containers(model, X, y, containers, sample_weight=None):
    """The model and its answers do not depend on the container of X."""
    plain = bits_of(clone(model).fit(X, y, sample_weight), X)
    for name, table in containers.items():
        same(plain, bits_of(clone(model).fit(table, y, sample_weight), table), name)


def same_for_scaled_weights(model, X, y, sample_weight, factor):
    """Weights count beside each other only: a power of two as factor changes nothing."""
    scaled = clone(model).fit(X, y, sample_weight * factor)
    same(bits_of(clone(model).fit(X, y, sample_weight), X), bits_of(scaled, X), f"weights times {factor!r}")


def same_after_copies(model, X, y, sample_weight=None):
    """A model that is pickled or copied is the same model, and fitting leaves what it is given alone."""
    given = [state_of(each) for each in (X, y, sample_weight)]
    model.fit(X, y, sample_weight)
    assert given == [state_of(each) for each in (X, y, sample_weight)], "fit has changed what it was given"
    bits = bits_of(model, X)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        same(bits, bits_of(pickle.loads(pickle.dumps(model, protocol)), X), "a pickled model")
    same(bits, bits_of(copy.deepcopy(model), X), "a copied model")
    same(bits, bits_of(copy.copy(model), X), "a shallow copy")
    same(bits, bits_of(model.fit(X, y, sample_weight), X), "a second fit")


def same_for_a_warm_start(model, X, y, n_first, sample_weight=None):
    """Some rounds and then the others are all rounds at once; but a search depends on the number of rounds."""
    model = with_settings(model)
    whole = clone(model).fit(X, y, sample_weight)
    warm = clone(model).set_params(warm_start=True, n_estimators=n_first).fit(X, y, sample_weight)
    warm.set_params(n_estimators=model.n_estimators).fit(X, y, sample_weight)
    same(bits_of(whole, X), bits_of(warm, X), "a warm start")
    late = clone(model).set_params(n_estimators=n_first).fit(X, y, sample_weight)
    late.set_params(warm_start=True, n_estimators=model.n_estimators).fit(X, y, sample_weight)
    same(bits_of(whole, X), bits_of(late, X), "a warm start that was switched on after the first fit")


def same_row_by_row(model, X, y, sample_weight=None):
    """Answers do not depend on which rows are asked for together, or on the stages."""
    model.fit(X, y, sample_weight)
    votes = model.decision_function(X)
    alone = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(len(X))])
    assert votes.tobytes() == alone.tobytes(), "votes on one row at a time are others"
    *_, last = model.staged_decision_function(X)
    assert votes.tobytes() == np.ascontiguousarray(last).tobytes(), "votes after the last stage are others"
    assert model.predict(X).tolist() == list(model.staged_predict(X))[-1].tolist(), "classes after the last stage"


# Interruptions


def interrupt(action, delay):
    """Call an action with a Ctrl-C after a delay in seconds: whether it ended by it, and how long that took."""
    planned = time.monotonic() + delay
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    interrupted = False
    try:
        action()
    except KeyboardInterrupt:
        interrupted = True
    taken = time.monotonic() - planned
    try:
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        pass
    assert taken < 5, f"a Ctrl-C was answered after {taken:.1f} s"
    return interrupted, taken


def check_interrupted_fit(model, X, y, delay):
    """An interrupted fit leaves the old model or the new one, and nothing between them."""
    old, random_state = state_of(vars(model)), copy.deepcopy(model.random_state)
    interrupt(lambda: model.fit(X, y), delay)
    now = state_of(vars(model))
    if now != old:
        assert hasattr(model, "n_iter_"), "an interrupted fit has changed the estimator"
        whole = clone(model).set_params(random_state=random_state).fit(X, y)
        assert bits_of(whole, X[:100]) == bits_of(model, X[:100]), "an interrupted fit has left half a model"


# Containers


def as_objects(values, shape):
    """An array of Python objects, whatever they are."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array.reshape(shape)


def as_frame(columns, names, n_samples, index=None):
    """A data frame of columns whose names may be the same."""
    frame = pd.concat([column.reset_index(drop=True) for column in columns], axis=1) if columns else pd.DataFrame()
    frame.columns = pd.Index(names, dtype=object) if len(set(map(type, names))) > 1 else names
    return frame if index is None else frame.set_axis(index, axis=0)


def with_wide_indices(matrix):
    """A sparse matrix with indices of 64 bits."""
    matrix = matrix.tocsr()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


# Metrics


def distinct(*lists):
    """The labels of some lists, sorted."""
    return sorted({label for labels in lists for label in labels})


def slow_counts(true, predicted, weights, labels):
    """The weight of the rows of every class that are predicted as every class, exactly; fractions do not overflow."""
    counts = {(one, other): Fraction(0) for one in labels for other in labels}
    for row, pair in enumerate(zip(true, predicted, strict=True)):
        counts[pair] += 1 if weights is None else Fraction(weights[row])
    return counts


def check_measures(given_true, given_pred, true, predicted, weights):
    """The measures of labels are what slow sums over the rows say."""
    if weights is not None and not any(weights):
        weights = None
    labels = distinct(true, predicted)
    counts = slow_counts(true, predicted, weights, labels)
    totals = {label: sum(counts[label, other] for other in labels) for label in labels}
    fractions = [
        [float(counts[l, j] / totals[l]) if totals[l] and l != j else 0.0 for j in labels]
        for l in labels  # noqa: E741
    ]
    confusion = metrics.error_confusion_matrix(given_true, given_pred, sample_weight=weights)
    assert confusion.shape == (len(labels), len(labels)), (
        f"{len(labels)} labels, but a confusion matrix of {confusion.shape}"
    )
    assert np.allclose(confusion, fractions, rtol=1e-9, atol=1e-12), "error_confusion_matrix is wrong"
    recalls = [float(counts[label, label] / totals[label]) for label in labels if totals[label]]
    mistakes = sum(counts[l, j] for l in labels for j in labels if l != j) / sum(totals.values())  # noqa: E741
    norm = metrics.confusion_norm_loss(given_true, given_pred, sample_weight=weights)
    for name, fast, slow in (
        ("confusion_norm_loss", norm, np.linalg.norm(np.array(fractions), 2)),
        ("min_recall_score", metrics.min_recall_score(given_true, given_pred, sample_weight=weights), min(recalls)),
        (
            "geometric_mean_score",
            metrics.geometric_mean_score(given_true, given_pred, sample_weight=weights),
            float(np.prod(np.array(recalls) ** (1 / len(recalls)))),
        ),
        (
            "expected_cost_loss",
            metrics.expected_cost_loss(given_true, given_pred, sample_weight=weights),
            float(mistakes),
        ),
    ):
        assert abs(fast - slow) <= 1e-9 * max(1.0, abs(slow)), f"{name} is {fast!r}, and should be {slow!r}"
    if len(labels) > 1:  # the errors of a single class cannot be bounded
        bound = metrics.confusion_norm_bound(given_true, given_pred, sample_weight=weights)
        assert not np.isnan(bound), "confusion_norm_bound is NaN"
        assert bound >= norm * (1 - 1e-9), "confusion_norm_bound is below confusion_norm_loss"
        lowest = metrics.recall_bounds(given_true, given_pred, sample_weight=weights)
        smallest = metrics.min_recall_bound(given_true, given_pred, sample_weight=weights)
        g_mean = metrics.geometric_mean_bound(given_true, given_pred, sample_weight=weights)
        assert (lowest >= 0).all(), "recall_bounds has NaN or a negative value"
        assert lowest.min() <= smallest + 1e-12 <= min(recalls) + 1e-9, "min_recall_bound is out of place"
        assert 0 <= g_mean <= float(np.prod(np.array(recalls) ** (1 / len(recalls)))) + 1e-9, (
            "geometric_mean_bound is out of place"
        )
    if weights is None and {type(label) for label in labels} == {int} and max(map(abs, labels)) < 2**53:
        peer = confusion_matrix(true, predicted, normalize="true")
        np.fill_diagonal(peer, 0.0)
        assert np.allclose(confusion, peer), "error_confusion_matrix is not scikit-learn's confusion_matrix"


def check_scores(given_true, true, scores, weights, labels):
    """MAUC and the balanced log-loss are what slow sums over pairs of rows, or over rows, say."""
    if weights is not None and not any(weights):
        weights = None
    labels = distinct(labels)
    weight = [Fraction(1 if weights is None else weights[row]) for row in range(len(true))]
    present = [label for label in labels if any(each == label and weight[row] for row, each in enumerate(true))]
    if len(present) < 2:
        return
    rows = {label: [row for row, each in enumerate(true) if each == label] for label in labels}
    chances = []
    for j in present:
        column = [each[labels.index(j)] for each in scores]
        for k in present:
            if j != k:
                won = sum(
                    weight[a] * weight[b] * Fraction((column[a] > column[b]) * 2 + (column[a] == column[b]), 2)
                    for a in rows[j]
                    for b in rows[k]
                )
                chances.append(float(won / (sum(weight[a] for a in rows[j]) * sum(weight[b] for b in rows[k]))))
    fast = metrics.mauc_score(given_true, scores, labels=labels, sample_weight=weights)
    slow = sum(chances) / len(chances)
    assert abs(fast - slow) <= 1e-9, f"mauc_score is {fast!r}, and should be {slow!r}"
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    losses = [-np.log(probabilities[row, labels.index(label)]) for row, label in enumerate(true)]
    means = [
        float(sum(weight[row] * Fraction(losses[row]) for row in rows[label]) / sum(weight[row] for row in rows[label]))
        for label in present
    ]
    fast = metrics.balanced_log_loss(given_true, probabilities, labels=labels, sample_weight=weights)
    slow = sum(means) / len(means)
    assert abs(fast - slow) <= 1e-9 * max(1.0, slow), f"balanced_log_loss is {fast!r}, and should be {slow!r}"


# The study

OPTIONS = ["--datasets", "new-thyroid", "--methods", "combo-depth-2-gini", "--runs", "1"]


def start_study(folder):
    """Start a small part of the study in a folder."""
    command = [sys.executable, "-m", "comboost", "reproduce", *OPTIONS, "--out", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tables_of(folder):
    """What must not depend on how the work was done."""
    skipped = ("times", "report", "settings", "lock")
    paths = sorted(path for path in folder.iterdir() if path.is_file() and path.stem not in skipped)
    return {path.name: path.read_bytes() for path in paths}


def finish_study(folder):
    """Run the study to its end: its tables."""
    run = start_study(folder)
    _, said = run.communicate()
    assert run.returncode == 0, f"the study ended with {run.returncode}: {said[-400:]}"
    return tables_of(folder)


def check_interrupted_study(delay):
    """A study that is interrupted says so soon, in a sentence, and goes on where it was."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder) / "study"
        run = start_study(folder)
        try:
            run.communicate(timeout=delay)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, said = run.communicate()
        taken = time.monotonic() - start
        assert taken < 5, f"a Ctrl-C was answered after {taken:.1f} s"
        assert "Traceback" not in said, f"a Ctrl-C has ended in a traceback: {said[-400:]}"
        assert run.returncode in (0, 130, -signal.SIGINT), f"the study ended with {run.returncode}: {said[-400:]}"
        finish_study(folder)


def check_killed_study(delays):
    """A study that is killed and started again ends with the tables of one that was not."""
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder) / "whole", Path(folder) / "killed"
        for delay in delays:
            run = start_study(killed)
            try:
                run.communicate(timeout=delay)
            except subprocess.TimeoutExpired:
                run.kill()
                run.communicate()
        assert finish_study(killed) == finish_study(whole), "a killed study has other tables"


def with_flipped_bit(content, bit):
    """Bytes, one bit of which is another."""
    changed = bytearray(content)
    changed[bit // 8 % len(content)] ^= 1 << bit % 8
    return bytes(changed)


def run_study_here(folder):
    """Run a small part of the study in this process: its exit code, its output, and the error that was not caught."""
    done = CliRunner().invoke(app, ["reproduce", *OPTIONS, "--jobs", "1", "--out", str(folder)], env={"COLUMNS": "500"})
    caught = done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, done.output, None if caught else repr(done.exception)


def check_damaged_study(name, damage):
    """A damaged file of the study is named, or makes no difference; there is no traceback and no other table."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder) / "study"
        code, said, _ = run_study_here(folder)
        assert code == 0, f"the study ended with {code}: {said[-400:]}"
        before, path = tables_of(folder), sorted(folder.glob(name))[0]
        if damage is None:
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes(damage(path.read_bytes()))
        code, said, uncaught = run_study_here(folder)
        assert uncaught is None, f"a damaged {path.name} has ended in a traceback: {uncaught}"
        if code == 0:
            assert tables_of(folder) == before, f"a damaged {path.name} has changed the tables, and nothing is said"
        else:
            named = path.name in said.replace("\n", "") or "made in another way" in said
            assert named, f"a damaged {path.name} is not named: {said[-400:]}"


# Clusters

ON_DASK = {name: f"Dask{name}" for name in ("CoMBoClassifier", "AdaBoostMMClassifier", "ConfusionBoostingClassifier")}


def check_struck_fit(local, strike, delay, n_workers, seed):
    """A fit one of whose workers is killed or stopped gives the local model, to the bit."""
    draws = np.random.default_rng(seed)
    X = draws.normal(size=(30_000, 8))
    y = (np.abs(X[:, 0]) + draws.exponential(size=30_000)).astype(int) % 4
    expected = bits_of(clone(local).fit(X, y), X[:500])
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0)
    with cluster, Client(cluster) as client:
        distant = getattr(comboost.dask, ON_DASK[type(local).__name__])(client=client)
        shared = distant.get_params(deep=False).keys() & local.get_params(deep=False).keys()
        distant.set_params(**{each: getattr(local, each) for each in shared})
        processes = sorted(client.run(os.getpid).values())
        timer = threading.Timer(delay, os.kill, (processes[seed % n_workers], strike))
        timer.start()
        start = time.monotonic()
        try:
            distant.fit(da.from_array(X, chunks=(4000, -1)), da.from_array(y, chunks=4000))
        finally:
            taken = time.monotonic() - start
            timer.cancel()
            timer.join()
            if strike == signal.SIGSTOP:  # or the cluster would wait for it
                kill_if_there(processes[seed % n_workers])
        same(bits_of(distant.to_local(), X[:500]), expected, f"a fit with a worker struck by {strike.name}")
        assert taken < 90, f"a fit with a worker struck by {strike.name} took {taken:.0f} s"


def kill_if_there(process):
    """Kill a process, which may be gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def never_refused(check, *args, **kwargs):
    """Check a property for samples that no call may refuse."""
    try:
        check(*args, **kwargs)
    except (ValueError, TypeError, MemoryError) as error:
        raise AssertionError(f"valid samples are refused: {type(error).__name__}: {error}") from error
