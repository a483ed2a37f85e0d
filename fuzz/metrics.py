"""Programs that compare every metric with a slow, exact sum, for labels of any kind."""

from random import Random

from fuzz.arguments import ALPHABETS
from fuzz.programs import program


def draw(random: Random) -> str:
    """Labels of one alphabet, predictions and scores, with or without weights."""
    alphabet = random.choice([*ALPHABETS[:3] * 2, *ALPHABETS[:10]])
    n_classes = random.randint(2, len(alphabet))
    n_samples = random.choice([1, 2, 5, 10, 20])
    true = [random.choice(alphabet[:n_classes]) for _ in range(n_samples)]
    found = [random.choice(alphabet[:n_classes]) if random.random() < 0.5 else label for label in true]
    container = random.choice(["{}", "{}", "np.array({})", "np.array({}, dtype=object)", "pd.Series({})", "tuple({})"])
    lines = [f"y_true = [{', '.join(true)}]", f"y_pred = [{', '.join(found)}]"]
    # Arrays of text lose zeros at the end, and arrays of wide integers digits: NumPy merges labels, not comboost.
    if random.random() < 0.5 and "a\\0" not in "".join(alphabet) and "2**6" not in "".join(alphabet):
        lines.append(f"given = {container.format('y_true')}, {container.format('y_pred')}")
    else:
        lines.append("given = y_true, y_pred")
    weights = "None"
    if random.random() < 0.5:
        low, high = random.choice([(0, 0), (-3, 3), (-300, -290), (290, 300), (-12, 0)])
        weights = repr([random.choice([0.0, random.uniform(1, 10) * 10.0 ** random.randint(low, high)]) for _ in true])
    lines.append(f"weights = {weights}")
    lines.append("check_measures(*given, y_true, y_pred, weights)")
    if random.random() < 0.5:
        tied = random.choice([1, 2, 12])
        scores = [[round(random.random(), tied) for _ in range(n_classes)] for _ in true]
        lines.append(f"check_scores(given[0], y_true, {scores}, weights, [{', '.join(alphabet[:n_classes])}])")
    return program("\n".join(lines))
