"""Damaged models. In: fitted models and a seed. Out: pickles with a flipped bit or wrong arrays, what became of each.

A flipped bit is what a disk or a line does: the model is refused when it is loaded, or it is the same. A forgery has
arrays that do not fit each other, under checksums that are right. That may be another model, but nothing may crash or
hang.
"""

import copy
import os
import pickle
import resource
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._persistence.model_file import stored_parts
from comboost._persistence.pickling import make_state
from comboost._types import CATEGORICAL, LEAF, NODE_DTYPE

State = dict[str, Any]

BATCH = 200  # mutations that share a process, unless one ends it
SECONDS = 20  # that one may take
ADDRESS_SPACE = 2**33  # bytes; a sanitizer maps far more, and then there is no limit
OUTCOMES = ("refused", "same", "failed", "changed", "crashed", "hung")


class Subject(NamedTuple):
    """A fitted model, and rows to ask it about."""

    name: str
    model: Any
    rows: Any


@dataclass(frozen=True)
class Mutation:
    """A damaged pickle, and how it was made; a forged one may be another model."""

    how: str
    pickled: bytes
    forged: bool


class Verdict(NamedTuple):
    """What became of a mutation: one of `OUTCOMES`, and what a process printed that it ended."""

    mutation: Mutation
    outcome: str
    printed: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether this must not be: a crash, a hang, or other predictions in silence."""
        return self.outcome in ("crashed", "hung") or (self.outcome == "changed" and not self.mutation.forged)


def subjects(seed: int = 0) -> list[Subject]:
    """Small models of all estimators, on numbers, missing values and categories."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(300, 4))
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 3] = random.integers(0, 9, len(X))
    labels = (np.nan_to_num(X[:, 0]) > 0.3) + 1 * (X[:, 3] % 3 == 1)
    y = np.array(["ash", "elm", "fir"])[np.where(random.random(len(X)) < 0.2, random.integers(0, 3, 300), labels)]
    models = {
        "combo": CoMBoClassifier(n_estimators=12, max_depth=3, categorical_features=[3]),
        "deep": AdaBoostMMClassifier(n_estimators=3, max_depth=None, categorical_features=[3], proba="vote_fraction"),
        "votes": ConfusionBoostingClassifier(n_estimators=12, categorical_features=[3], priors="training"),
        "leaves": ConfusionBoostingClassifier(n_estimators=6, max_leaf_nodes=9, max_bins=255),
    }
    return [Subject(name, model.fit(X, y), X) for name, model in models.items()]


# Mutations, without end


def flips(subject: Subject, random: np.random.Generator) -> Iterator[Mutation]:
    """Pickles with one flipped bit."""
    pickled = pickle.dumps(subject.model)
    while True:
        place, bit = int(random.integers(len(pickled))), int(random.integers(8))
        flipped = bytearray(pickled)
        flipped[place] ^= 1 << bit
        yield Mutation(f"{subject.name}: bit {bit} of byte {place} flipped", bytes(flipped), forged=False)


def forgeries(subject: Subject, random: np.random.Generator) -> Iterator[Mutation]:
    """Pickles with wrong arrays; three of four under checksums that are right."""
    parameters, intact = stored_parts(subject.model)
    while True:
        attributes = copy.deepcopy(intact)
        told = FORGERS[int(random.integers(len(FORGERS)))](attributes, random)
        state = make_state(parameters, attributes)
        matches = random.random() < 0.75
        if not matches:
            state["json"] = make_state(parameters, intact)["json"]
        how = f"{subject.name}: {told}" + ("" if matches else ", under the old checksums")
        yield Mutation(how, pickle.dumps(Pickled(type(subject.model), state)), forged=matches)


class Pickled:
    """Is pickled as an object of some class with a given state."""

    def __init__(self, kind: type, state: State) -> None:
        self.kind = kind
        self.state = state

    def __reduce__(self) -> Any:
        return object.__new__, (self.kind,), self.state


def odd_number(random: np.random.Generator, dtype: Any, *near: int) -> int:
    """A number of an integer type that is likely to be just outside of what is allowed."""
    limits = np.iinfo(dtype)
    close = [number + step for number in near for step in (-1, 0, 1)]
    chosen = int(random.choice([limits.min, -2, -1, 0, 1, 255, 256, limits.max, *close, *close]))
    return min(max(chosen, int(limits.min)), int(limits.max))


def odd_float(random: np.random.Generator) -> float:
    """A float that is likely to be none that is allowed."""
    return float(random.choice([np.nan, np.inf, -np.inf, 0.0, 1e30, float(random.normal())]))


def forge_node(state: State, random: np.random.Generator) -> str:
    """Write an odd number into a field of a node."""
    forest = state["forest"]
    nodes = forest["nodes"]
    field, place = str(random.choice(list(NODE_DTYPE.names or ()))), int(random.integers(len(nodes)))
    limits = {"feature": "kinds", "left": "nodes", "set": "sets"}
    if field == "threshold":
        nodes[field][place] = odd_float(random)
    else:
        limit = len(forest[limits[field]]) if field in limits else forest["n_classes"]
        near = int(nodes[field][place]), limit, int(random.integers(40))
        nodes[field][place] = odd_number(random, NODE_DTYPE[field], *near)
    return f"{field} of node {place} is {nodes[field][place]}"


def forge_order(state: State, random: np.random.Generator) -> str:
    """Write a node over another, or swap them."""
    nodes = state["forest"]["nodes"]
    one, other = random.integers(len(nodes), size=2).tolist()
    kept = nodes[one].copy()
    nodes[one] = nodes[other]
    if random.integers(2):
        nodes[other] = kept
        return f"nodes {one} and {other} are swapped"
    return f"node {one} is node {other}"


def forge_way(state: State, random: np.random.Generator) -> str:
    """Let a node lead to another of its tree: itself, one before it, or one that has a parent."""
    forest = state["forest"]
    tree = int(random.integers(len(forest["offsets"]) - 1))
    nodes = forest["nodes"][forest["offsets"][tree] : forest["offsets"][tree + 1]]
    place = int(random.integers(len(nodes)))
    nodes["left"][place] = random.integers(len(nodes))
    if random.integers(2) and nodes["feature"][place] == LEAF:
        nodes["feature"][place] = 0
    return f"node {place} of tree {tree} leads to {nodes['left'][place]}"


def forge_thresholds(state: State, random: np.random.Generator) -> str:
    """Give all nodes thresholds of one feature, many of them, in any order."""
    nodes = state["forest"]["nodes"]
    numeric = (nodes["feature"] != LEAF) & (nodes["flags"] & CATEGORICAL == 0)
    nodes["threshold"][numeric] = random.normal(size=numeric.sum())
    nodes["feature"][numeric] = 0
    if random.integers(2):
        nodes["bin"][numeric] = np.arange(numeric.sum()) % 256
    return "all thresholds are others"


def forge_entry(state: State, random: np.random.Generator) -> str:
    """Write an odd number into an array that is not the nodes."""
    forest = state["forest"]
    others = {name: array for name, array in forest.items() if isinstance(array, np.ndarray) and name != "nodes"}
    name = str(random.choice([name for name, array in others.items() if array.size]))
    flat = others[name].reshape(-1)
    place = int(random.integers(len(flat)))
    near = int(np.nan_to_num(flat[place])), len(forest["nodes"])
    flat[place] = odd_float(random) if flat.dtype.kind == "f" else odd_number(random, flat.dtype, *near)
    return f"entry {place} of {name} is {flat[place]}"


def forge_array(state: State, random: np.random.Generator) -> str:
    """Make an array of the trees, or of what a fit has left beside them, another one."""
    holder = state["forest"] if random.integers(2) else state
    name = str(random.choice([name for name, value in holder.items() if isinstance(value, np.ndarray)]))
    array = holder[name]
    changes: dict[str, Callable[[], Any]] = {
        "shorter": lambda: array[: int(random.integers(len(array) + 1))],
        "longer": lambda: np.concatenate([array, array[: int(random.integers(1, 9))]]),
        "reversed": lambda: array[::-1],
        "deeper": lambda: array[np.newaxis],
        "bytes": lambda: np.ascontiguousarray(array).view(np.uint8),
        "objects": lambda: array.astype(object),
        "a list": lambda: array.tolist(),
        "nothing": lambda: None,
    }
    change = str(random.choice(list(changes)))
    holder[name] = changes[change]()
    return f"{name} is {change}"


def forge_member(state: State, random: np.random.Generator) -> str:
    """Change how many there are of something, or what is known about categories."""
    values = state["categories"]["values"]
    changes: dict[str, Callable[[], Any]] = {
        "n_iter_": lambda: state.update(n_iter_=odd_number(random, np.int64, state["n_iter_"])),
        "n_features_in_": lambda: state.update(n_features_in_=odd_number(random, np.int64, state["n_features_in_"])),
        "n_classes": lambda: state["forest"].update(n_classes=odd_number(random, np.int64, len(state["classes_"]))),
        "categories": lambda: values.update({odd_number(random, np.int32, 3, 4): tuple(range(300))}),
        "no categories": values.clear,
        "no trees": lambda: state.pop("forest"),
        "no classes": lambda: state.pop("classes_"),
        "sets without nodes": lambda: state["forest"]["nodes"]["set"].fill(-1),
    }
    change = str(random.choice(list(changes)))
    changes[change]()
    return f"{change} forged"


FORGERS = (forge_node, forge_node, forge_order, forge_way, forge_thresholds, forge_entry, forge_array, forge_member)


# Judgement


def answers(model: Any, rows: Any) -> list[bytes]:
    """What a model says of some rows: of few, which walk from node to node, of many, round by round, and in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [model.predict_proba(rows), model.predict_proba(rows[:5]), model.decision_function(rows)]
        found += [np.asarray(model.predict(rows)), *islice(model.staged_decision_function(rows[:70]), 3)]
        text = "\n".join(model.export_text(t) for t in range(min(3, model.n_iter_)))
    return [np.ascontiguousarray(array).tobytes() for array in found] + [text.encode()]


def outcome_of(mutation: Mutation, subject: Subject, expected: list[bytes]) -> str:
    """What becomes of a mutation, if the process lives to tell it."""
    try:
        model = pickle.loads(mutation.pickled)
    except BaseException:  # what is damaged may raise anything
        return "refused"
    if type(model) is not type(subject.model):
        return "refused"  # it is no such model, and does not look like one
    try:
        return "same" if answers(model, subject.rows) == expected else "changed"
    except Exception:
        return "failed"


def judge(mutations: Iterable[Mutation], subject: Subject) -> Iterator[Verdict]:
    """What becomes of every mutation of a model, each tried in a child process that it may end."""
    expected, ahead = answers(subject.model, subject.rows), iter(mutations)
    batch = list(islice(ahead, BATCH))
    while batch:
        verdicts = judge_batch(batch, subject, expected)
        yield from verdicts
        batch = batch[len(verdicts) :]  # those behind a crash
        batch += islice(ahead, BATCH - len(batch))


def judge_batch(batch: list[Mutation], subject: Subject, expected: list[bytes]) -> list[Verdict]:
    """Verdicts on the first mutations of a batch: up to the one that ends the process, if one does."""
    receive, send = os.pipe()
    with tempfile.TemporaryFile() as printed:
        child = fork_quietly()
        if child == 0:
            os.close(receive)
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            try_all(batch, subject, expected, send)
        os.close(send)
        with os.fdopen(receive, "rb") as stream:
            told = [OUTCOMES[code] for code in stream.read()]
        _, status = os.waitpid(child, 0)
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    verdicts = [Verdict(mutation, outcome) for mutation, outcome in zip(batch, told, strict=False)]
    if len(told) < len(batch):
        hung = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
        verdicts.append(Verdict(batch[len(told)], "hung" if hung else "crashed", text[-4000:]))
    return verdicts


def fork_quietly() -> int:
    """Fork; that other threads do not come along is meant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def try_all(batch: list[Mutation], subject: Subject, expected: list[bytes], send: int) -> None:
    """Send what becomes of each mutation, a byte each, and end the process."""
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    try:
        for mutation in batch:
            signal.alarm(SECONDS)
            os.write(send, bytes([OUTCOMES.index(outcome_of(mutation, subject, expected))]))
    finally:
        os._exit(0)
