"""The order of the gallery. In: the file of an example. Out: its place in the list that stands beside the examples."""

from pathlib import Path

README = Path(__file__).parents[2] / "examples" / "README.md"


def place(file_name: str) -> int:
    """Where the list links to an example."""
    return README.read_text(encoding="utf-8").index(f"({file_name})")
