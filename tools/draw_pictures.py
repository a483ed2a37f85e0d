"""Draws the pictures of README and of the gallery. In: the examples. Out: docs/pictures.

    python tools/draw_pictures.py [NAME ...]

A name is that of an example, or ``terminal``, which is what ``comboost cv yeast`` shows; without one, all are drawn.
That takes some minutes, most of them for dask_folder. It needs the extras ``cli``, ``dask`` and ``plot``, and Chromium
for the picture of the report.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console

from comboost.cli.commands.cv import show_validation
from comboost.cli.input.training_table import DataRequest
from comboost.cli.jobs.cross_validation import validate_file
from comboost.cli.jobs.settings import Settings
from comboost.cli.terminal.screen import Screen

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
TERMINAL, SHOWN, WIDTH = "terminal", "yeast", 72
DOTS_PER_INCH, N_COLOURS = 80, 64
PAGE, PAGE_SIZE = "reading_a_report", "1160,1330"  # the example that ends in a page, and how much of it is shown
LARGEST = 60_000  # bytes
FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # which rich would load from elsewhere


def draw_example(name: str, path: Path) -> None:
    """Let an example save its picture, and make that small."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "matplotlibrc")
        settings.write_text(f"savefig.dpi: {DOTS_PER_INCH}\n")
        drawn = Path(folder, "page.html") if name == PAGE else path
        command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), str(drawn)]
        subprocess.run(command, env=os.environ | {"MPLBACKEND": "Agg", "MATPLOTLIBRC": str(settings)}, check=True)
        if drawn != path:
            photograph(drawn, path)
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(N_COLOURS, Image.Quantize.MAXCOVERAGE)
    small.save(path, optimize=True)


def photograph(page: Path, path: Path) -> None:
    """The top of a page, as a browser shows it."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={PAGE_SIZE}"]
    subprocess.run(["chromium", *options, f"--screenshot={path}", page.as_uri()], check=True, capture_output=True)


def draw_terminal(path: Path) -> None:
    """What a terminal shows of a command."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(f"$ comboost cv {SHOWN}", style="bold")
    result = validate_file(DataRequest(SHOWN), Settings(), 5, lambda doing, done: None)
    show_validation(result, Screen(console))
    drawn = console.export_svg(title="comboost", unique_id=TERMINAL)
    path.write_text(FONTS.sub("", drawn), encoding="utf-8")


def main(names: list[str]) -> None:
    """Draw pictures, and say how large they are."""
    PICTURES.mkdir(exist_ok=True)
    for name in names or [*sorted(path.stem for path in (ROOT / "examples").glob("*.py")), TERMINAL]:
        path = PICTURES / f"{name}.{'svg' if name == TERMINAL else 'png'}"
        if name == TERMINAL:
            draw_terminal(path)
        else:
            draw_example(name, path)
        size = path.stat().st_size
        print(f"{path.relative_to(ROOT)}: {size:,} bytes" + (", which is too much" if size > LARGEST else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
