"""Programs in which something goes wrong: interrupts, killed processes, damaged pickles and study files."""

from pathlib import Path
from random import Random

from fuzz.programs import program

# Interrupts

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

INTERRUPTED = ["CoMBoClassifier", "ConfusionBoostingClassifier"]
SEEDS = ["0", "np.random.RandomState(1)"]


def draw_interruption(random: Random) -> str:
    """Press Ctrl-C during a fit, binning, a prediction, a baseline or the study: it ends soon, nothing is half done."""
    kind = random.choice(["fit", "fit", "refit", "binning", "predict", "predict", "baseline", "reproduce"])
    drawn = {"seed": random.randrange(100), "n_samples": 100_000, "n_features": 10, "wide": ""}
    drawn["delay"] = round(random.choice([random.uniform(0, 0.3), random.uniform(0, 3)]), 3)
    booster, seed = random.choice(INTERRUPTED), random.choice(SEEDS)
    drawn["model"] = f"{booster}(n_estimators=300, n_jobs={random.choice([1, 2])}, random_state={seed})"
    drawn["method"] = random.choice(["predict", "predict_proba", "decision_function"])
    if kind == "binning":
        drawn |= {"n_samples": 400_000, "n_features": 40}
        drawn["model"] = f"{booster}(n_estimators=1, max_depth=1, random_state={seed})"
    if kind == "predict":
        drawn |= {"n_samples": 1_000_000, "n_features": 6}
    if kind == "baseline":
        baseline = random.choice(["SMOTEBoostClassifier", "AdaBoostNCClassifier"])
        drawn |= {"n_samples": 20_000, "model": f"{baseline}(n_estimators=300, random_state={seed})"}
    if kind == "reproduce":
        return program(REPRODUCE.format(delay=round(random.uniform(0.3, 12), 2)))
    texts = {"fit": FIT, "refit": REFIT, "binning": FIT, "predict": PREDICT, "baseline": FIT}
    return program(texts[kind].format(**drawn))


# Kills

CLUSTER = """
if __name__ == "__main__":
    check_struck_fit({model}, signal.{signal}, {delay}, n_workers={n_workers}, seed={seed})
"""
KILLED = [
    "CoMBoClassifier(n_estimators=40, random_state=0)",
    "CoMBoClassifier(n_estimators=40, random_state=0, norm='spectral')",
    "AdaBoostMMClassifier(n_estimators=40, random_state=0, max_depth=4)",
    "ConfusionBoostingClassifier(n_estimators=40, random_state=0)",
    "ConfusionBoostingClassifier(n_estimators=20, random_state=0, max_leaf_nodes=8)",
    "ConfusionBoostingClassifier(n_estimators=20, random_state=0, norm='worst-class')",
]


def draw_kill(random: Random) -> str:
    """Kill the study a few times, or kill or stop a worker during a fit: the result is the same."""
    if random.random() < 0.5:
        delays = [round(random.uniform(0.5, 12), 2) for _ in range(random.choice([1, 2]))]
        return program(f"check_killed_study({delays})")
    drawn = {"model": random.choice(KILLED), "signal": random.choice(["SIGKILL", "SIGKILL", "SIGSTOP"])}
    drawn |= {"delay": str(round(random.uniform(0, 4), 2)), "n_workers": str(random.choice([2, 3]))}
    return program(CLUSTER.format(**drawn, seed=random.randrange(100)))


# Damaged files

DAMAGES = [
    "lambda content: content[:{place} % len(content)]",
    "lambda content: b''",
    "lambda content: b'null'",
    "lambda content: b'[]'",
    "lambda content: b'{{}}'",
    "lambda content: b'\\xff\\xfe\\x00'",
    "lambda content: b'[' * 100000",
    "lambda content: b'1e999'",
    "lambda content: content + content",
    "lambda content: b'\\xef\\xbb\\xbf' + content",
    "lambda content: re.sub(rb'[0-9]', b'{digit}', content, count={few})",
    "lambda content: re.sub(rb'[0-9.]+', b'null', content)",
    "lambda content: re.sub(rb'[0-9]+[.][0-9]+', b'NaN', content, count=1)",
    "lambda content: re.sub(rb'\\{{', b'[', content, count=1)",
    "lambda content: re.sub(rb'\"[a-z_]+\": [^,]*,', b'', content, count={few})",
    "lambda content: with_flipped_bit(content, {place})",
    "lambda content: with_flipped_bit(content, {place})",
    "lambda content: with_flipped_bit(content, {place})",
    "None",
]


def draw_damaged_study(random: Random) -> str:
    """Damage the settings or a result of the study: the file is named, or the tables are the same."""
    drawn = {"place": random.randrange(10**6), "digit": random.randrange(10), "few": random.choice([1, 3])}
    damage = random.choice(DAMAGES).format(**drawn)
    name = random.choice(["settings.json", "folds/*/*/run-00-fold-2.json", "folds/*/*/run-00-fold-2.json"])
    return program(f"check_damaged_study({name!r}, {damage})")


MODELS = Path(__file__).with_name("models.py")  # models, and how they are damaged
N_SUBJECTS = 4
N_MUTATIONS = 40  # of one model, so that fitting it does not take all the time


def draw_damaged_pickle(random: Random) -> str:
    """Damage or forge pickles of one model: refused, or the same model."""
    kind = random.choice(["flips", "forgeries"])
    lines = f"""
subject = subjects()[{random.randrange(N_SUBJECTS)}]
mutations = {kind}(subject, np.random.default_rng({random.randrange(10**6)}))
expected = answers(subject.model, subject.rows)
for mutation in islice(mutations, {N_MUTATIONS}):
    outcome = outcome_of(mutation, subject, expected)
    assert outcome != "changed" or mutation.forged, f"another model without an error: {{mutation.how}}"
"""
    return program(lines, MODELS)
