"""Cases about odd shapes: time per round, and memory beside what a fit says that it needs."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks._lib.comparison import Plan
from benchmarks._lib.memory import MEBI, Peak, peak_of_fit
from benchmarks._lib.problems import SEED
from benchmarks._lib.store import Result, Row

FEW_ROWS = 2000  # not made fewer by a quick run
N_INFORMATIVE = 5
SMALL = 60  # rows to warm up with


@dataclass(frozen=True)
class Shape:
    """A problem that few have."""

    name: str
    n_samples: int
    n_features: int
    n_classes: int
    n_rounds: int
    params: dict[str, Any] = field(default_factory=dict)
    constant: bool = False
    twins: bool = False  # every row is there twice, with other classes: no tree can tell all of them apart

    def scaled(self, share: float) -> "Shape":
        """The same with fewer rows, and fewer classes where there would be one for less than two rows."""
        n_samples = max(FEW_ROWS, int(self.n_samples * share))
        return (
            self
            if n_samples >= self.n_samples
            else replace(self, n_samples=n_samples, n_classes=min(self.n_classes, n_samples // 2))
        )

    def __call__(self, *, small: bool) -> tuple[Any, Any]:
        """Rows of noise around a centre for each class, or all the same."""
        if small:
            return replace(self, n_samples=SMALL, n_features=min(self.n_features, 3), n_classes=3)(small=False)
        random = np.random.default_rng(SEED)
        y = (np.arange(self.n_samples) % self.n_classes).astype(np.int32)
        random.shuffle(y)
        if self.constant:
            return np.ones((self.n_samples, self.n_features), dtype=np.float32), y
        X = random.standard_normal((self.n_samples, self.n_features), dtype=np.float32)
        for f in range(min(self.n_features, N_INFORMATIVE)):
            X[:, f] += 2 * random.standard_normal(self.n_classes, dtype=np.float32)[y]
        if self.twins:
            X[1::2] = X[::2]
        return X, y


ODD = (
    Shape("many features", 2000, 5000, 3, 20),
    Shape("many classes", 50_000, 20, 1000, 5),
    Shape("one row per class", 500, 10, 500, 20),
    Shape("constant columns", 100_000, 20, 3, 20, constant=True),
    Shape("trees without limit", 2000, 2000, 30, 3, {"max_depth": None}, twins=True),
)
MOST_CLASSES = Shape("12 000 classes", 24_000, 5, 12_000, 3)
MOST_ROWS = Shape("50 million rows", 50_000_000, 3, 3, 3)


@dataclass(frozen=True)
class OddCase:
    """Fits of some odd shapes."""

    name: str
    title: str
    shapes: tuple[Shape, ...]

    def run(self, plan: Plan) -> Result:
        """Fit in fresh processes."""
        result = Result()
        rows = result.tables[self.name] = []
        for shape in self.shapes:
            shape = shape.scaled(0.1) if plan.quick else shape
            peak = peak_of_fit(shape, {"n_estimators": shape.n_rounds, "n_jobs": plan.n_threads, **shape.params})
            result.raw[shape.name] = asdict(peak)
            rows.append(row_of(shape, peak))
        return result


def row_of(shape: Shape, peak: Peak) -> Row:
    """Time and memory of a fit, or why it was refused."""
    from comboost._engine.memory_plan import FitShape, TreeLimits
    from comboost._types import MAX_BINS

    n_bins = shape.n_features * min(shape.n_samples, MAX_BINS)  # as if no value came twice
    depth = shape.params.get("max_depth", 3)
    planned = sum(
        FitShape(shape.n_samples, shape.n_features, shape.n_classes, n_bins, TreeLimits(depth)).peak().values()
    )
    refused = peak.refusal is not None
    return {
        "problem": shape.name,
        "rows": shape.n_samples,
        "features": shape.n_features,
        "classes": shape.n_classes,
        "fit, s": None if refused else peak.seconds,
        "rounds": peak.n_rounds,
        "ms per round": None if peak.round_seconds is None else 1e3 * peak.round_seconds,
        "input, MiB": (peak.table + peak.labels) / MEBI,
        "over input, MiB": None if refused else peak.extra / MEBI,
        "footprint, MiB": planned / MEBI,
        "over input / footprint": None if refused else peak.extra / planned,
        "ended by": peak.refusal or peak.stop_reason,
    }
