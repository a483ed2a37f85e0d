"""Pickles. In: chance. Out: programs that load damaged and forged models: refused or the same, and nothing crashes."""

from pathlib import Path
from random import Random

from fuzz.programs import program

SECONDS = 60
SHARE = 2.0
MODELS = Path(__file__).with_name("models.py")  # what is damaged, and how
N_SUBJECTS = 4
N_MUTATIONS = 40  # of one model, so that fitting it does not take all the time


def draw(random: Random) -> str:
    """Some mutations of one model."""
    kind = random.choice(["flips", "forgeries"])
    lines = f"""
subject = subjects()[{random.randrange(N_SUBJECTS)}]
mutations = {kind}(subject, np.random.default_rng({random.randrange(10**6)}))
expected = answers(subject.model, subject.rows)
for mutation in islice(mutations, {N_MUTATIONS}):
    outcome = outcome_of(mutation, subject, expected)
    assert outcome != "changed" or mutation.forged, f"another model without a word: {{mutation.how}}"
"""
    return program(lines, MODELS)
