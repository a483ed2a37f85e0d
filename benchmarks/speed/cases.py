"""The table: every case with its problem and its target. In: nothing. Out: cases."""

from dataclasses import replace

from benchmarks._lib.comparison import Case
from benchmarks._lib.peers import ConfusionBoosting
from benchmarks._lib.problems import Problem
from benchmarks._lib.verdicts import Target
from benchmarks.speed.binning import BinningCase
from benchmarks.speed.explanations import ExplanationCase
from benchmarks.speed.few_values import Connect4, Discrete, FewValuesCase
from benchmarks.speed.fits import ManyClassesCase, MemoryCase, SmallFitCase
from benchmarks.speed.leaves import LeafGrowthCase, LeavesContest
from benchmarks.speed.overhead import OverheadCase
from benchmarks.speed.prediction import ManyRowsCase, SingleRowCase, Training
from benchmarks.speed.rounds import GrowthCase, LimitCase, RoundsCase, ThreadsCase, VotesCase

LARGE = {
    "200k-50-5": Problem(200_000, 50, 5),
    "1m-30-3": Problem(1_000_000, 30, 3),
    "100k-100-10": Problem(100_000, 100, 10),
    "100k-28-26": Problem(100_000, 28, 26),
}
ROUND_TARGETS = {"200k-50-5": 1 / 3, "1m-30-3": 2 / 5, "100k-100-10": 1 / 4, "100k-28-26": 1 / 4}
# Noise in the classes: AdaBoost stops early on rows that it can learn without a mistake.
SMALL = Problem(215, 5, 3, noise=0.3)
BASE = Problem(100_000, 50, 5)
DOUBLED = Target("≤", 2.2)
FEW_VALUES = {
    "connect-4": Connect4(),
    "car": Discrete("like car", 50_000, 6 * (3, 4), 4, as_categories=True),
    "boolean": Discrete("boolean", 100_000, 100 * (2,), 5),
}
TRAINING = Training(LARGE["200k-50-5"], n_samples=20_000, n_rounds=200)
DEFAULT_TRAINING = replace(TRAINING, n_rounds=300, max_depth=5, n_leaves=32)  # as max_depth="auto" has it here
DEEP_TRAINING = replace(TRAINING, n_rounds=50, max_depth=12, n_leaves=255)
EXPLAINED = {
    "depth-3": replace(TRAINING, n_rounds=50),
    "depth-6": replace(TRAINING, n_rounds=50, max_depth=6, n_leaves=64),
    "31-leaves": replace(TRAINING, n_rounds=50, max_depth=12, n_leaves=31),
}

CASES: tuple[Case, ...] = (
    *(RoundsCase(f"rounds-{shape}", LARGE[shape], Target("≤", share)) for shape, share in ROUND_TARGETS.items()),
    *(FewValuesCase(f"few-values-{name}", problem, Target("≤", 1 / 3)) for name, problem in FEW_VALUES.items()),
    BinningCase("binning-float32", LARGE["200k-50-5"], "float32", Target("≤", 1 / 2)),
    BinningCase("binning-float64", LARGE["200k-50-5"], "float64", Target("≤", 1 / 2)),
    ManyRowsCase("prediction-rows", TRAINING, Target("≥", 3)),
    ManyRowsCase("prediction-rows-every-class", DEFAULT_TRAINING, Target("≥", 3), ConfusionBoosting),
    ManyRowsCase("prediction-rows-deep", DEEP_TRAINING, Target("≥", 3)),
    ManyRowsCase("prediction-rows-every-class-deep", DEEP_TRAINING, Target("≥", 3), ConfusionBoosting),
    SingleRowCase("prediction-latency", TRAINING, Target("≤", 1)),
    *(ExplanationCase(f"explanations-{trees}", training, Target("≥", 1)) for trees, training in EXPLAINED.items()),
    OverheadCase("overhead", SMALL, 200, Target("<", 20)),
    SmallFitCase("small-fit", SMALL, 200, Target("<", 1), Target("≤", 1 / 10)),
    MemoryCase("memory", LARGE["1m-30-3"], 5, Target("<", 1)),
    *(ThreadsCase(f"threads-{shape}", problem, Target("≥", 1.7)) for shape, problem in LARGE.items()),
    GrowthCase("growth-rows", (BASE, Problem(200_000, 50, 5)), DOUBLED),
    GrowthCase("growth-features", (BASE, Problem(100_000, 100, 5)), DOUBLED),
    GrowthCase("growth-classes", (BASE, Problem(100_000, 50, 10), Problem(100_000, 50, 20)), Target("≤", 2)),
    *(
        VotesCase(f"votes-{shape}-depth-{depth}", LARGE[shape], depth, Target("≤", 1.25))
        for shape in ("200k-50-5", "100k-28-26")
        for depth in (3, 6)
    ),
    LeafGrowthCase("leaves-growth-28k-23-18", Problem(28_000, 23, 18), Target("≤", 2)),
    LeafGrowthCase("leaves-growth-200k-50-5", LARGE["200k-50-5"], Target("≤", 2)),
    *(
        LeavesContest(f"leaves-{n_leaves}-{shape}", LARGE[shape], n_leaves, Target("≤", 1 / 3))
        for shape in ("200k-50-5", "100k-28-26")
        for n_leaves in (31, 255, 2000)
    ),
    ManyClassesCase("memory-classes", Problem(50_000, 22, 1_000), 3, 2048, Target("≤", 1)),
    *(LimitCase(f"limit-{shape}", problem, Target("≤", 2)) for shape, problem in LARGE.items()),
)
