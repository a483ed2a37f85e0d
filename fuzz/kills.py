"""Kills. In: chance. Out: programs that kill the study, or workers of a cluster: the same tables, the same model."""

from random import Random

from fuzz.programs import program

SECONDS = 240
SHARE = 2.0

CLUSTER = """
if __name__ == "__main__":
    check_struck_fit({model}, signal.{signal}, {delay}, n_workers={n_workers}, seed={seed})
"""
MODELS = [
    "CoMBoClassifier(n_estimators=40, random_state=0)",
    "AdaBoostMMClassifier(n_estimators=40, random_state=0, max_depth=4)",
    "ConfusionBoostingClassifier(n_estimators=40, random_state=0)",
    "ConfusionBoostingClassifier(n_estimators=20, random_state=0, max_leaf_nodes=8)",
]


def draw(random: Random) -> str:
    """The study killed a few times, or a worker killed or stopped in the midst of a fit."""
    if random.random() < 0.5:
        delays = [round(random.uniform(0.5, 12), 2) for _ in range(random.choice([1, 2]))]
        return program(f"check_killed_study({delays})")
    drawn = {"model": random.choice(MODELS), "signal": random.choice(["SIGKILL", "SIGKILL", "SIGSTOP"])}
    drawn |= {"delay": str(round(random.uniform(0, 4), 2)), "n_workers": str(random.choice([2, 3]))}
    return program(CLUSTER.format(**drawn, seed=random.randrange(100)))
