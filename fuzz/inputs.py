"""Programs that fit and predict with arguments of any kind: a valid model, or a refusal."""

from random import Random

from fuzz.arguments import constructor, draw_classes, draw_costs, draw_labels, draw_parameters, draw_weights
from fuzz.programs import program
from fuzz.tables import draw_array, draw_table

CLASSIFIERS = ["CoMBoClassifier", "AdaBoostMMClassifier"] + 3 * ["ConfusionBoostingClassifier"]
BASELINES = ["SMOTEBoostClassifier", "AdaBoostNCClassifier"]


def draw(random: Random) -> str:
    """One argument is anything, now and then two; the others are plain, or every call would end at the first check."""
    classifier = random.choice(CLASSIFIERS * 2 + BASELINES)
    odd = set(random.choices(["X", "y", "sample_weight", "cost_matrix", "parameters"], k=random.choice([1, 1, 1, 2])))
    n_samples, n_features = random.choice([1, 2, 3, 5, 8, 12, 20]), random.choice([1, 1, 2, 3])
    n_classes = random.choice([2, 2, 3, 4])
    lines = [
        f"X = {draw_table(random, n_samples, n_features) if 'X' in odd else draw_array(random, n_samples, n_features)}"
    ]
    parameters = {"n_estimators": str(random.randint(1, 6))}
    if "parameters" in odd:
        parameters = draw_parameters(random, classifier, random.choice([1, 1, 2]))
    if "cost_matrix" in odd and "cost_matrix" not in parameters and classifier not in BASELINES:
        parameters["cost_matrix"] = draw_costs(random, n_classes)
    if "y" in odd:
        listed, y = draw_labels(random, n_samples)
        lines += [f"labels = {listed}", f"y = {y}"]
    else:
        lines += [f"y = np.array({draw_classes(random, n_samples, n_classes)})"]
    lines.append(f"model = {constructor(classifier, parameters)}")
    given = ""
    if "sample_weight" in odd and classifier not in BASELINES:
        lines.append(f"sample_weight = {draw_weights(random, n_samples)}")
        given = ", sample_weight=sample_weight"
    lines.append(f"fit_or_leave(model, X, y{given})")
    lines.append("check_fit(model)")
    if "y" in odd:
        lines.append("check_labels(model, y)")
    lines += use_model(random, n_samples, n_features, has_text=classifier not in BASELINES)
    return program("\n".join(lines))


def use_model(random: Random, n_samples: int, n_features: int, *, has_text: bool) -> list[str]:
    """Calls of the fitted model."""
    call = random.choice(["same", "same", "other", "again"] + ["text"] * has_text)
    lines = ["check_answers(model, X)"]
    if call == "other":
        n_new = random.choice([1, 2, 40])
        lines += [f"X_new = {draw_table(random, n_new, n_features)}", "check_answers(model, X_new)"]
    if call == "text":
        lines.append("assert model.export_text(-1)" if random.random() < 0.9 else "model.export_text(10**400)")
    if call == "again":
        lines.append(f"fit_or_leave(model, {draw_table(random, n_samples, n_features)}, y)")
    return lines
