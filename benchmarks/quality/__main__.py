"""``python -m benchmarks.quality``: runs the comparisons, prints them as they are done, and stores them."""

import argparse
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks._lib.command import exit_code
from benchmarks._lib.page import describe, render_verdict
from benchmarks._lib.store import describe_setting
from benchmarks.quality.curves import Curves
from benchmarks.quality.folds import Folds
from benchmarks.quality.plan import Plan
from benchmarks.quality.running import Kind, Run
from benchmarks.quality.verdicts import judge_curves, judge_folds

KINDS: dict[str, Kind] = {kind.name: kind for kind in (Curves(), Folds())}
JUDGES = {Curves.name: judge_curves, Folds.name: judge_folds}
QUICK_REMARK = "QUICK RUN: few rows, rounds and folds. It shows that everything works; its figures say nothing."


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.quality", description=__doc__.partition(": ")[2])
    parser.add_argument("kind", nargs="?", choices=KINDS, help="time to quality, or folds at defaults (both)")
    names = {"action": "append", "default": [], "metavar": "NAME"}
    parser.add_argument("--problem", **names, help="a problem, or how its name begins")
    parser.add_argument("--method", **names, help="a method, or how its name begins")
    parser.add_argument("--list", action="store_true", help="say which problems and methods there are")
    parser.add_argument("--again", action="store_true", help="run what is stored already, too")
    parser.add_argument("--quick", action="store_true", help="small sizes, done in minutes")
    parser.add_argument("--threads", type=int, default=Plan.n_threads, help=f"of every method ({Plan.n_threads})")
    parser.add_argument(
        "--budget", type=float, default=Plan.budget, help=f"seconds of training of a curve ({Plan.budget:g})"
    )
    return parser.parse_args(arguments)


def pick(candidates: Sequence[Any], names: Iterable[str]) -> list[Any]:
    """Those of these names, or whose names begin with them; all if no name is given."""
    beginnings = tuple(name.lower() for name in names)
    return [one for one in candidates if not beginnings or one.name.lower().startswith(beginnings)]


def list_names(kinds: Iterable[Kind]) -> None:
    for kind in kinds:
        for title, candidates in (("problems", kind.problems), ("methods", kind.methods)):
            print(f"{kind.name}, {title}: {'; '.join(one.name for one in candidates)}")


def run_kinds(options: argparse.Namespace, kinds: list[Kind]) -> bool:
    plan = Plan(options.threads, options.budget, options.quick)
    settings = {"threads": plan.n_threads, "budget": plan.budget, "quick": plan.quick}
    setting = describe_setting("quality", ("imblearn",), settings)
    print(describe(setting), *([QUICK_REMARK] if plan.quick else []), sep="\n")
    sound = True
    for kind in kinds:
        run = Run(kind, plan, setting, again=options.again)
        sound &= run.run(pick(kind.problems, options.problem), pick(kind.methods, options.method))
        print(f"\nstored in {run.store.path}")
        print(*map(render_verdict, JUDGES[kind.name](run.store.read()["entries"])), sep="\n")
    return sound


def main() -> int:
    options = read_arguments()
    kinds = [KINDS[options.kind]] if options.kind else list(KINDS.values())
    if options.list:
        list_names(kinds)
        return 0
    kinds = [kind for kind in kinds if pick(kind.problems, options.problem) and pick(kind.methods, options.method)]
    if not kinds:
        print("no problem or no method has such a name; --list says which there are", file=sys.stderr)
        return 2
    # Peers announce what will change in their next versions.
    warnings.filterwarnings("ignore", module="imblearn|lightgbm|xgboost|catboost|sklearn")
    return exit_code(lambda: run_kinds(options, kinds), "what was done is stored, and the next run goes on from there")


if __name__ == "__main__":
    sys.exit(main())
