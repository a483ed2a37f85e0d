"""``comboost demo``: ConfusionBoosting beside the paper's CoMBo and AdaBoost.MM on the bundled Yeast data."""

import math
from typing import TYPE_CHECKING, Annotated

import typer

from comboost._stats.formatting import join_names, pluralize
from comboost.cli.terminal.options import NOT_SEARCHED, check_jobs, no_search_option, seed_option
from comboost.cli.terminal.progress import progress_shown
from comboost.cli.terminal.screen import Screen

if TYPE_CHECKING:
    from comboost._estimators.certificates import Certificate
    from comboost.cli.jobs.demo import DemoResult

DECIMALS = 3

MEANINGS = {
    "confusion_norm": "norm of all confusions; 0 is best",
    "g_mean": "geometric mean of the recalls",
    "mauc": "AUC averaged over pairs of classes",
    "accuracy": "fraction of correct predictions",
}

NO_BOUND = "–"
BOUNDS = {
    "confusion_norm": "‖C‖ at most",
    "g_mean": "G-mean at least",
    "mean_recall": "mean recall at least",
    "accuracy": "accuracy at least",
}

STOP_REASONS = {
    "n_estimators": "all rounds used",
    "no_edge": "no tree is better than chance any more",
    "perfect_learner": "one tree makes no mistake",
    "loss_vanished": "the loss is zero",
    "rounding": "weights differ too much for exact sums",
    "early_stopping": "the validation score stopped improving",
    "callback": "a callback stopped it",
}

NEXT_STEPS = """Start with ConfusionBoosting. To try it on a file of your own, type
  comboost compare FILE.csv --target COLUMN
or, without a file, comboost compare glass"""


def demo(
    seed: Annotated[int, seed_option(help="Random seed of the split.")] = 0,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of rounds.", show_default="each method's default")
    ] = None,
    no_search: Annotated[bool, no_search_option()] = False,
    jobs: Annotated[
        int | None, typer.Option(callback=check_jobs, help="Threads; -1 for one per core.", show_default="one")
    ] = None,
) -> None:
    """Compare ConfusionBoosting with CoMBo and AdaBoost.MM on the bundled Yeast data.

    For example:

      comboost demo --seed 1
    """
    from comboost.cli.jobs.demo import compare_boosters

    with progress_shown() as tick:
        defaults = NOT_SEARCHED if no_search else None
        result = compare_boosters(tick, seed=seed, n_rounds=rounds, n_jobs=jobs, defaults=defaults)
    show_demo(result, Screen())


def show_demo(result: "DemoResult", screen: Screen) -> None:
    """Print recalls, metrics, bounds, stop reasons and certificates in tables of at most 60 columns."""
    from comboost.study._results import MEASURES

    n_train, n_test = (sum(getattr(size, part) for size in result.classes) for part in ("n_train", "n_test"))
    screen.say(f"Yeast data, {len(result.classes)} classes: {n_train} training rows, {n_test} test rows.")
    headers = [method.name.replace("Boosting", "\nBoosting") for method in result.methods]

    screen.say("\nRecall per class on the test rows", "bold")
    rows = [
        [
            (f"{size.name} rare", "yellow") if size.is_rare else size.name,
            str(size.n_train),
            str(size.n_test),
            *mark_best([method.recalls[size.name] for method in result.methods]),
        ]
        for size in result.classes
    ]
    screen.show(["class", "train\nrows", "test\nrows", *headers], rows, right=(1, 2))

    screen.say("All classes together, on the test rows", "bold")
    rows = [
        [
            MEASURES[name].label,
            meaning,
            *mark_best(
                [method.metrics[name] for method in result.methods], lower_is_better=MEASURES[name].lower_is_better
            ),
        ]
        for name, meaning in MEANINGS.items()
    ]
    screen.show(["metric", "meaning", *headers], rows)
    screen.say(f"* best. One split (seed {result.seed}) with few rows: other seeds give other results.")

    screen.say("\nOn new data, each with 95 % confidence", "bold")
    n_classes = len(result.classes)
    rows = [
        [name, *(describe_bound(key, method.bounds[key], n_classes) for method in result.methods)]
        for key, name in BOUNDS.items()
    ]
    screen.show(["bound", *headers], rows)
    screen.say(
        f"‖C‖ of {n_classes} classes never exceeds {largest_norm(n_classes):.3g}. The accuracy assumes the same class "
        "proportions."
    )
    if any(NO_BOUND in row for row in rows):
        screen.say(f"{NO_BOUND} too few rows to say anything.")

    screen.say("\nWhy training stopped", "bold")
    for method in result.methods:
        screen.say(f"{method.name}: {STOP_REASONS[method.stop_reason]} ({pluralize(method.n_rounds, 'round')})")
    show_certificates(result, screen)

    screen.say("\nIn short", "bold")
    n_rare = sum(size.n_test for size in result.classes if size.is_rare)
    screen.say(f"Recall of the rare classes ({n_rare} test rows), with 95 % intervals:")
    for method in result.methods:
        recall, low, high = method.rare_recall
        screen.say(f"  {method.name}: {recall:.0%} ({low:.0%} to {high:.0%})")
    screen.say(NEXT_STEPS)


def mark_best(values: list[float], *, lower_is_better: bool = False) -> list[str | tuple[str, str]]:
    """Format values, the best of them with a star."""
    best = find_best(values, lower_is_better=lower_is_better)
    texts = [f"{value:.{DECIMALS}f}" for value in values]
    return [(f"{text} *", "bold green") if idx in best else text for idx, text in enumerate(texts)]


def find_best(values: list[float], *, lower_is_better: bool = False) -> list[int]:
    """Return the indices of the values that equal the best one as shown; none if all are shown alike."""
    shown = [round(value, DECIMALS) for value in values]
    if len(set(shown)) == 1:
        return []
    best = min(shown) if lower_is_better else max(shown)
    return [idx for idx, value in enumerate(shown) if value == best]


def largest_norm(n_classes: int) -> float:
    """Return √(K−1), the largest ‖C‖ that there is."""
    return math.sqrt(n_classes - 1)


def describe_bound(key: str, bound: float, n_classes: int) -> str:
    """Format a bound; one that says nothing is a dash."""
    is_vacuous = bound >= largest_norm(n_classes) if key == "confusion_norm" else bound <= 0
    return NO_BOUND if is_vacuous else f"{bound:.{DECIMALS}f}"


def show_certificates(result: "DemoResult", screen: Screen) -> None:
    """Print what the training loss certifies; of certificates that say nothing, only their bounds."""
    maximum = largest_norm(len(result.classes))
    vacuous = []
    for method in result.methods:
        certificate = method.certificate
        if certificate is None:
            continue
        bound = min(certificate.loss, certificate.bound)
        if bound >= maximum:
            vacuous.append(f"{method.name} ({bound:.3g})")
        else:
            screen.say(f"\nCertified for {method.name}, on its training rows", "bold")
            screen.say(describe_certificate(certificate, len(result.classes)))
    if vacuous:
        screen.say(
            f"\nThe training loss certifies nothing for {join_names(vacuous)}: its bound on ‖C‖ of the training rows "
            f"is not below {maximum:.3g}."
        )


def describe_certificate(certificate: "Certificate", n_classes: int) -> str:
    """State the norm, its bounds by the loss and by the rounds, and what they mean."""
    _, norm, loss, bound = certificate
    chain = f"‖C_S‖ = {norm:.3g} ≤ {loss:.3g} (by the loss) ≤ {bound:.3g} (by the rounds)"
    return f"{chain}\n{certificate.meaning(n_classes)}"
