"""Interruptions. In: chance. Out: programs that press Ctrl-C at a random moment: answered soon, nothing half done."""

from random import Random

from fuzz.programs import program

SECONDS = 150
SHARE = 2.0

LARGE = """
draws = np.random.default_rng({seed})
X = draws.normal(size=({n_samples}, {n_features})){wide}
y = (np.abs(X[:, 0]) + draws.exponential(size={n_samples})).astype(int) % 4
"""
FIT = LARGE + "model = {model}\ncheck_interrupted_fit(model, X, y, {delay})"
REFIT = LARGE + (
    "model = {model}.set_params(n_estimators=1).fit(X[:2000], y[:2000])\n"
    "model.set_params(n_estimators=300)\ncheck_interrupted_fit(model, X, y, {delay})"
)
PREDICT = LARGE + (
    "model = {model}.set_params(max_depth=None).fit(X[:1500], y[:1500])\n"
    "before = state_of(vars(model))\n"
    "interrupt(lambda: model.{method}(X), {delay})\n"
    'assert state_of(vars(model)) == before, "an interrupted prediction has changed the estimator"'
)
REPRODUCE = "check_interrupted_study({delay})"

BOOSTERS = ["CoMBoClassifier", "ConfusionBoostingClassifier"]
SEEDS = ["0", "np.random.RandomState(1)"]


def draw(random: Random) -> str:
    """A fit, a binning, a prediction, a baseline or the study."""
    kind = random.choice(["fit", "fit", "refit", "binning", "predict", "predict", "baseline", "reproduce"])
    drawn = {"seed": random.randrange(100), "n_samples": 100_000, "n_features": 10, "wide": ""}
    drawn["delay"] = round(random.choice([random.uniform(0, 0.3), random.uniform(0, 3)]), 3)
    booster, seed = random.choice(BOOSTERS), random.choice(SEEDS)
    drawn["model"] = f"{booster}(n_estimators=300, n_jobs={random.choice([1, 2])}, random_state={seed})"
    drawn["method"] = random.choice(["predict", "predict_proba", "decision_function"])
    if kind == "binning":
        drawn |= {"n_samples": 400_000, "n_features": 40}
        drawn["model"] = f"{booster}(n_estimators=1, max_depth=1, random_state={seed})"
    if kind == "predict":
        drawn |= {"n_samples": 1_000_000, "n_features": 6}
    if kind == "baseline":
        rival = random.choice(["SMOTEBoostClassifier", "AdaBoostNCClassifier"])
        drawn |= {"n_samples": 20_000, "model": f"{rival}(n_estimators=300, random_state={seed})"}
    if kind == "reproduce":
        return program(REPRODUCE.format(delay=round(random.uniform(0.3, 12), 2)))
    texts = {"fit": FIT, "refit": REFIT, "binning": FIT, "predict": PREDICT, "baseline": FIT}
    return program(texts[kind].format(**drawn))
