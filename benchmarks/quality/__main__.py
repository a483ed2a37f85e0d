"""``python -m benchmarks.quality``: runs the comparisons, prints them as they are done, and stores them."""

import argparse
import sys
import warnings
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from benchmarks._lib.command import exit_code
from benchmarks._lib.page import describe, render_verdict
from benchmarks._lib.store import describe_setting
from benchmarks.quality.comparisons import COMPARISONS, Comparison
from benchmarks.quality.plan import Plan
from benchmarks.quality.running import Run
from benchmarks.quality.store import Store
from benchmarks.quality.verdicts import judge
from comboost.study.peers import PERPETUAL, SELF_PACED_ENSEMBLE

QUICK_REMARK = "QUICK RUN: few rows, rounds and folds. It shows that everything works; its figures say nothing."


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.quality", description=__doc__.partition(": ")[2])
    parser.add_argument(
        "comparison", nargs="?", choices=COMPARISONS, help="one split of eight problems, or folds (both)"
    )
    names = {"action": "append", "default": [], "metavar": "NAME"}
    parser.add_argument("--problem", **names, help="a problem, or how its name begins")
    parser.add_argument("--method", **names, help="a method, or how its name begins")
    parser.add_argument("--list", action="store_true", help="say which problems and methods there are")
    parser.add_argument("--again", action="store_true", help="run what is stored already, too")
    parser.add_argument("--quick", action="store_true", help="small sizes, done in minutes")
    parser.add_argument("--threads", type=int, default=Plan.n_threads, help=f"of every method ({Plan.n_threads})")
    return parser.parse_args(arguments)


def pick(candidates: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Select by name; a name that none has is a prefix. Without names, all are selected."""
    known = {one.name.lower() for one in candidates}
    wanted = [name.lower() for name in names]
    beginnings = tuple(name for name in wanted if name not in known)
    return [
        one
        for one in candidates
        if not wanted or one.name.lower() in wanted or (beginnings and one.name.lower().startswith(beginnings))
    ]


def list_names(comparisons: Iterable[Comparison]) -> None:
    for comparison in comparisons:
        for title, candidates in (("problems", comparison.problems), ("methods", comparison.methods)):
            print(f"{comparison.name}, {title}: {'; '.join(one.name for one in candidates)}")


def run_comparisons(options: argparse.Namespace, comparisons: list[Comparison]) -> bool:
    plan = Plan(options.threads, options.quick)
    setting = describe_setting("quality", ("imblearn",), {"threads": plan.n_threads, "quick": plan.quick})
    packages = [peer.package for peer in (PERPETUAL, SELF_PACED_ENSEMBLE) if peer.is_installed]
    setting["versions"] |= {package: version(package) for package in packages}
    print(describe(setting), *([QUICK_REMARK] if plan.quick else []), sep="\n")
    sound = True
    for comparison in comparisons:
        run = Run(comparison, plan, setting, again=options.again)
        sound &= run.run(pick(comparison.problems, options.problem), pick(comparison.methods, options.method))
        print(f"\nstored in {run.store.path}")
    verdicts = judge(*(Store(name, quick=plan.quick).read()["entries"] for name in COMPARISONS))
    print(*map(render_verdict, verdicts), sep="\n")
    return sound


def main(arguments: list[str] | None = None) -> int:
    options = read_arguments(arguments)
    comparisons = [COMPARISONS[options.comparison]] if options.comparison else list(COMPARISONS.values())
    if options.list:
        list_names(comparisons)
        return 0
    comparisons = [
        one for one in comparisons if pick(one.problems, options.problem) and pick(one.methods, options.method)
    ]
    if not comparisons:
        print("no problem or no method has such a name; --list says which there are", file=sys.stderr)
        return 2
    # Peers announce what will change in their next versions.
    warnings.filterwarnings("ignore", module="imblearn|imbens|lightgbm|xgboost|catboost|perpetual|sklearn")
    return exit_code(
        lambda: run_comparisons(options, comparisons), "what was done is stored, and the next run goes on from there"
    )


if __name__ == "__main__":
    sys.exit(main())
