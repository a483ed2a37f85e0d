"""``python -m fuzz``: search for calls, kills and interrupts that comboost does not survive."""

import argparse
import os
import sys
from pathlib import Path

from fuzz.report import Findings, render
from fuzz.search import GENERATORS, Search

FOLDER = Path("fuzz-findings")
SANITIZED_PATIENCE = 5.0


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser("python -m fuzz", description=__doc__.partition(": ")[2])
    parser.add_argument("--seed", type=int, default=0, help="random seed of all cases (0)")
    parser.add_argument("--minutes", type=float, default=0.0, help="minutes to search (2)")
    parser.add_argument("--seconds", type=float, default=0.0, help="seconds to search, added to the minutes")
    parser.add_argument(
        "--only", action="append", choices=GENERATORS, metavar="GENERATOR", help=f"of {', '.join(GENERATORS)}"
    )
    parser.add_argument("--case", type=int, metavar="N", help="repeat one case of the generator named with --only")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (2)")
    parser.add_argument("--markdown", action="store_true", help="print the counts as a table of Markdown")
    parser.add_argument("--out", type=Path, default=FOLDER, help=f"folder for the findings ({FOLDER})")
    options = parser.parse_args(arguments)
    if options.case is not None and len(options.only or []) != 1:
        parser.error("--case needs the generator, exactly one: add --only GENERATOR.")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Search, or repeat a case; 1 if there are findings."""
    options = read_arguments(arguments)
    patience = SANITIZED_PATIENCE if "libasan" in os.environ.get("LD_PRELOAD", "") else 1.0
    findings = Findings(options.out)
    search = Search([GENERATORS[name] for name in options.only or GENERATORS], options.seed, findings, patience)
    if options.case is not None:
        (generator,) = search.generators
        print(generator.case(options.seed, options.case))
        verdict = search.run_one(generator, options.case)
        print(f"# {verdict.status}: {verdict.reason}")
    else:
        search.run(60 * options.minutes + options.seconds or 120.0, options.jobs)
        print(f"\nseed {options.seed}\n\n{render(search.counts, markdown=options.markdown)}")
    return 1 if len(findings) else 0


if __name__ == "__main__":
    sys.exit(main())
