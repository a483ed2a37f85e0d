"""What examples of the gallery are told. In: an example. Out: the words behind its name on the command line."""

import tempfile
from pathlib import Path
from typing import Any

PAGES = {"reading_a_report": "report.html"}  # would be opened in a browser


def arguments(_gallery: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Pictures are shown, and taken by the gallery; pages are saved."""
    page = PAGES.get(Path(script["src_file"]).stem)
    return [] if page is None else [str(Path(tempfile.mkdtemp()) / page)]
