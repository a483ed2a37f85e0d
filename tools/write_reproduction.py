"""Fills docs/reproduction.md. In: a folder of ``comboost reproduce``. Out: its tables in the page, its CSV beside it.

    python tools/write_reproduction.py FOLDER COMMIT

What stands between ``<!-- NAME -->`` and ``<!-- end -->`` is the program's: a table's name, ``run``, ``verdicts``,
``bysetting`` or ``claims``. The prose around it is not touched.
"""

import json
import re
import sys
from pathlib import Path

from comboost.study._rendering import render_claims, render_csv, render_markdown, render_settings, render_verdicts

DOCS = Path(__file__).parent.parent / "docs"
PAGE, FOLDER = DOCS / "reproduction.md", DOCS / "reproduction"
MARK = re.compile(r"(<!-- (?P<name>[a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main(folder: Path, commit: str) -> None:
    """Fill the page and write the CSV."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    tables = report["tables"] | {"times": report["times"]}
    texts = {name: shift_headings(render_markdown(table)) for name, table in tables.items()}
    texts |= {
        "run": tell_run(folder, commit),
        "verdicts": render_verdicts(report),
        "bysetting": render_settings(report),
        "claims": render_claims(report["claims"]),
    }
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        MARK.sub(lambda mark: f"{mark[1]}\n{texts[mark['name']].strip()}\n\n{mark[3]}", page), encoding="utf-8"
    )
    FOLDER.mkdir(exist_ok=True)
    for name, table in tables.items():
        (FOLDER / f"{name}.csv").write_text(render_csv(table), encoding="utf-8", newline="")


def shift_headings(text: str) -> str:
    """A table's own title is the page's to give; its blocks are subsections."""
    _, _, body = text.partition("\n\n")
    return re.sub("^## ", "### ", body, flags=re.MULTILINE)


def tell_run(folder: Path, commit: str) -> str:
    """Versions and commit, as a line."""
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    versions = {"comboost": settings["comboost"]} | settings["libraries"]
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"Commit {commit}; {told}; {settings['machine']}; seed {settings['study']['seed']}."


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
