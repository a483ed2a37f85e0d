"""The table of README.md. In: the stored folds. Out: its lines, by ``python -m benchmarks.quality.readme``."""

from benchmarks.quality.fold_tables import cells_of
from benchmarks.quality.measures import ACCURACY, NORM
from benchmarks.quality.ranks import means
from benchmarks.quality.store import Store
from benchmarks.tables import text

SETS = ("yeast", "glass", "car", "satimage")  # from the smallest to the largest of their smallest classes
METHODS = ("ConfusionBoosting", "CoMBo", "LightGBM", "HistGradientBoosting", "BalancedRandomForest")


def short(cell: str) -> str:
    """A figure without the zero before its point."""
    return cell.replace("0.", ".", 1) if cell.lstrip("*").startswith("0.") else cell


def main() -> None:
    content = Store("folds", quick=False).read()
    entries = {name: content["entries"][name] for name in SETS if name in content["entries"]}
    if not entries:
        raise SystemExit("there is no run of these sets yet: python -m benchmarks.quality folds")
    norms, accuracies = (means(entries, measure.key, METHODS) for measure in (NORM, ACCURACY))
    rows = []
    for name in norms:
        smallest = next(entry["smallest"] for entry in entries[name].values() if "smallest" in entry)
        cells = cells_of(norms[name], NORM), cells_of(accuracies[name], ACCURACY)
        rows.append(
            {"data, rows of the smallest class": f"{name}, {smallest}"}
            | {method: " / ".join(short(by_method[method]) for by_method in cells) for method in METHODS}
        )
    commits = sorted({run["source"]["commit"][:7] for run in content["runs"].values()})
    print(f"{text.markdown(rows)}\n\ncommit {', '.join(commits)}")


if __name__ == "__main__":
    main()
