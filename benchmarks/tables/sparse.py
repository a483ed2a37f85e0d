"""Cases about tables that are mostly zeros: ours and peers on text, and the memory of very wide tables."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks._lib.comparison import Plan
from benchmarks._lib.memory import MEBI, Peak, peak_of_fit
from benchmarks._lib.problems import SEED
from benchmarks._lib.store import Result, Row
from benchmarks._lib.timing import alternate, medians
from benchmarks._lib.verdicts import Target, Verdict

N_ROWS, N_HELD, N_WORDS = 4000, 1000, 22_657
SHARES = np.array([0.4, 0.25, 0.2, 0.1, 0.05])  # of the classes
WORDS_PER_TEXT = 160  # of which about a hundred are different ones
TOPIC = 0.25  # by how much the logarithm of a word's rate differs between classes
BUDGET = 120.0
LEAVES, ROUNDS = 31, 100  # LightGBM's defaults
COMBO, CONFUSION, SAME_LEAVES = "CoMBo", "ConfusionBoosting", f"ConfusionBoosting, {ROUNDS} rounds, {LEAVES} leaves"
LIGHTGBM, XGBOOST = "LightGBM", "XGBoost"
NO_SLOWER, HALF, IN_PROPORTION = Target("≤", 1), Target("≤", 0.5), Target("≤", 0.2)


class SparseCase:
    """Time of a fit on text, and how good it is on other texts."""

    name = "sparse"
    title = f"TF-IDF of {N_ROWS:_} texts, {N_WORDS:_} words, {len(SHARES)} classes".replace("_", " ")

    def run(self, plan: Plan) -> Result:
        """Fit with all, in turns."""
        X, y = make_texts((N_ROWS + N_HELD) // (10 if plan.quick else 1))
        n_train = len(y) * N_ROWS // (N_ROWS + N_HELD)
        train, held = slice(0, n_train), slice(n_train, None)
        fits: dict[str, Callable[[], Any]] = {
            name: partial(fit, X[train], y[train], plan.n_threads) for name, fit in FITS.items()
        }
        seconds, models = alternate(fits, plan.n_threads, plan.repeats, BUDGET)
        typical = medians(seconds)
        rows = [row_of(name, typical, models[name], X[held], y[held]) for name in fits]
        return Result({"sparse": rows}, verdicts_of(typical), raw={"seconds": seconds})


def make_texts(n_samples: int) -> tuple[Any, Any]:
    """Words with rates after Zipf, which depend on the class, weighted by how rare they are."""
    from sklearn.feature_extraction.text import TfidfTransformer

    random = np.random.default_rng(SEED)
    y = random.choice(len(SHARES), n_samples, p=SHARES)
    rates = np.exp(TOPIC * random.standard_normal((len(SHARES), N_WORDS))) / np.arange(1, N_WORDS + 1)
    chances = (rates / rates.sum(axis=1, keepdims=True)).cumsum(axis=1)
    lengths = random.poisson(WORDS_PER_TEXT, n_samples)
    words = [np.searchsorted(chances[label], random.random(size)) for label, size in zip(y, lengths, strict=True)]
    places = np.repeat(np.arange(n_samples), lengths), np.minimum(np.concatenate(words), N_WORDS - 1)
    counts = csr_matrix((np.ones(len(places[0])), places), (n_samples, N_WORDS))
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts), y


def fit_combo(X: Any, y: Any, n_threads: int, **params: Any) -> Any:
    from comboost import CoMBoClassifier

    return CoMBoClassifier(n_jobs=n_threads, random_state=0, **params).fit(X, y)


def fit_confusion(X: Any, y: Any, n_threads: int, **params: Any) -> Any:
    from comboost import ConfusionBoostingClassifier

    return ConfusionBoostingClassifier(n_jobs=n_threads, **params).fit(X, y)


def fit_lightgbm(X: Any, y: Any, n_threads: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(class_weight="balanced", n_jobs=n_threads, verbosity=-1).fit(X, y)


def fit_xgboost(X: Any, y: Any, n_threads: int) -> Any:
    from sklearn.utils.class_weight import compute_sample_weight
    from xgboost import XGBClassifier

    return XGBClassifier(tree_method="hist", n_jobs=n_threads).fit(
        X, y, sample_weight=compute_sample_weight("balanced", y)
    )


FITS: dict[str, Callable[..., Any]] = {
    COMBO: fit_combo,
    f"{COMBO}, max_features=.01": partial(fit_combo, max_features=0.01),
    CONFUSION: fit_confusion,
    f"{CONFUSION}, max_features=.01": partial(fit_confusion, max_features=0.01),
    SAME_LEAVES: partial(fit_confusion, n_estimators=ROUNDS, max_depth=None, max_leaf_nodes=LEAVES),
    LIGHTGBM: fit_lightgbm,
    XGBOOST: fit_xgboost,
}


def row_of(name: str, seconds: dict[str, float], model: Any, X: Any, y: Any) -> Row:
    """A method's time, and how good it is on held-out rows."""
    from comboost.metrics import confusion_norm_loss

    predicted = np.asarray(model.predict(X))
    return {
        "method": name,
        "fit, s": seconds[name],
        "over LightGBM's": seconds[name] / seconds[LIGHTGBM],
        "norm": float(confusion_norm_loss(y, predicted)),
        "accuracy": float((predicted == y).mean()),
    }


def verdicts_of(seconds: dict[str, float]) -> list[Verdict]:
    """Whether ours takes no longer than peers, and less if few features are tried."""
    found = []
    for ours in (COMBO, CONFUSION):
        found.append(Verdict(f"{ours} / {LIGHTGBM}", NO_SLOWER, seconds[ours] / seconds[LIGHTGBM]))
        found.append(Verdict(f"{ours} / {XGBOOST}", HALF, seconds[ours] / seconds[XGBOOST]))
        few = f"{ours}, max_features=.01"
        found.append(Verdict(f"{few} / all features", IN_PROPORTION, seconds[few] / seconds[ours]))
    found.append(Verdict(f"{SAME_LEAVES} / {LIGHTGBM}", NO_SLOWER, seconds[SAME_LEAVES] / seconds[LIGHTGBM]))
    return found


@dataclass(frozen=True)
class SparseShape:
    """A table of words, most of which are rare."""

    n_samples: int
    n_features: int
    n_per_row: int = 30
    n_rounds: int = 10

    def __call__(self, *, small: bool) -> tuple[Any, Any]:
        """Words of which some tell the five classes apart."""
        if small:
            return replace(self, n_samples=200, n_features=1000)(small=False)
        random = np.random.default_rng(SEED)
        y = random.choice(len(SHARES), self.n_samples, p=SHARES)
        words = (self.n_features * random.random((self.n_samples, self.n_per_row)) ** 3).astype(np.int32)
        own = random.random(words.shape) < 0.2
        words[own] = ((37 * y[:, np.newaxis] + words % 200) % self.n_features)[own]
        starts = np.arange(0, words.size + 1, self.n_per_row, dtype=np.int32)
        X = csr_matrix((random.random(words.size), words.ravel(), starts), (self.n_samples, self.n_features))
        X.sum_duplicates()
        return X, y

    def planned(self) -> int:
        """Bytes that a fit plans to take."""
        from comboost._data.categories import Categories
        from comboost._data.tables import RawTable, SparseSource
        from comboost._engine.binning import BinMapper
        from comboost._engine.memory_plan import FitShape, TableCopies

        X, _ = self(small=False)
        raw = RawTable(SparseSource(X))
        table = raw.encode(Categories())
        n_bins = int(BinMapper.fit_entries(table.entries(), table, None, 255).bin_offsets[-1])
        shape = FitShape(self.n_samples, self.n_features, len(SHARES), n_bins, table=TableCopies.of(raw))
        return sum(shape.peak().values())


WIDE_SHAPES = (
    SparseShape(25_000, 75_000),
    SparseShape(50_000, 150_000),
    SparseShape(100_000, 300_000),
    SparseShape(100_000, 300_000, n_per_row=60),
)


class SparseWideCase:
    """Memory of fits whose codes would fill many gigabytes if zeros had codes of their own."""

    name = "sparse-wide"
    title = f"up to 100 000 rows and 300 000 features, {WIDE_SHAPES[0].n_rounds} rounds"

    def run(self, plan: Plan) -> Result:
        """Fit in fresh processes."""
        result = Result()
        rows = result.tables[self.name] = []
        for shape in WIDE_SHAPES[:1] if plan.quick else WIDE_SHAPES:
            peak = peak_of_fit(shape, {"n_estimators": shape.n_rounds, "n_jobs": plan.n_threads})
            result.raw[f"{shape}"] = asdict(peak)
            rows.append(memory_row(shape, peak))
        return result


def memory_row(shape: SparseShape, peak: Peak) -> Row:
    """Time and memory of a fit, beside the plan."""
    planned = shape.planned()
    return {
        "rows": shape.n_samples,
        "features": shape.n_features,
        "entries per row": shape.n_per_row,
        "fit, s": peak.seconds,
        "ms per round": None if peak.round_seconds is None else 1e3 * peak.round_seconds,
        "input, MiB": (peak.table + peak.labels) / MEBI,
        "over input, MiB": peak.extra / MEBI,
        "footprint, MiB": planned / MEBI,
        "over input / footprint": peak.extra / planned,
        "ended by": peak.refusal or peak.stop_reason,
    }
