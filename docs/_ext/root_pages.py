"""Pages whose text stands at the root of the repository. In: their names. Out: the text, with links into the site.

A page of ``root_pages`` is a line that leads to its file, for whoever reads the folder; the site shows the file itself.
"""

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<path>[^)#:]+)(?P<anchor>#[^)]*)?\)")


def site_path(path: Path, source: Path, pages: dict[Path, str]) -> str | None:
    """Where the site has a file, as a path from its root."""
    if path in pages:
        return f"/{pages[path]}.md"
    if path.is_relative_to(source):
        return f"/{path.relative_to(source)}"
    if path.parent == source.parent / "examples":
        return f"/gallery/{path.stem}.rst"
    return None


def show_root_page(app: Any, docname: str, source: list[str]) -> None:
    """Put the text of a file at the root in the place of the line that leads to it."""
    if docname not in app.config.root_pages:
        return
    folder = Path(app.srcdir)
    pages = {folder.parent / name: page for page, name in app.config.root_pages.items()}

    def relink(link: re.Match[str]) -> str:
        target = site_path((folder.parent / link["path"]).resolve(), folder, pages)
        return link["text"] if target is None else f"[{link['text']}]({target}{link['anchor'] or ''})"

    path = folder.parent / app.config.root_pages[docname]
    app.env.note_dependency(str(path))
    source[0] = LINK.sub(relink, path.read_text(encoding="utf-8"))


def setup(app: Any) -> dict[str, bool]:
    """Register it."""
    app.add_config_value("root_pages", {}, "env")
    app.connect("source-read", show_root_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
