"""Finds dead links of a built site. In: its folder. Out: every link to a file or a fragment that is not there.

    python tools/check_links.py build/site

Links to other sites are not followed. The exit code is 1 if a link is dead.
"""

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the fragments that others may link to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fragments = {""}
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and the names of an element."""
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value or "")
            elif name == "srcset":
                self.links += [candidate.split()[0] for candidate in (value or "").split(",") if candidate.strip()]
            elif name == "id" or (name == "name" and tag == "a"):
                self.fragments.add(value or "")


read_page = cache(Page)


def is_dead(link: str, page: Path, site: Path) -> bool:
    """Whether a link of a page leads to nothing inside the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    if not parts.path:
        target = page
    elif parts.path.startswith("/"):
        target = site / unquote(parts.path).lstrip("/")
    else:
        target = page.parent / unquote(parts.path)
    target = target.resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site) or not target.is_file():
        return True
    return target.suffix == ".html" and unquote(parts.fragment) not in read_page(target).fragments


def pages_of(site: Path) -> list[Path]:
    """The pages of a site; what its theme brings along is none."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def dead_links(site: Path) -> Iterator[tuple[str, str]]:
    """Every page and link of it that is dead, in the order of the pages."""
    site = site.resolve()
    for page in pages_of(site):
        for link in dict.fromkeys(read_page(page).links):
            if is_dead(link, page, site):
                yield str(page.relative_to(site)), link


def main(folder: str = "build/site") -> int:
    """Print the dead links of a site, and say how many they are."""
    n_pages = len(pages_of(Path(folder)))
    if not n_pages:
        print(f"{folder} holds no page; build the site there first", file=sys.stderr)
        return 1
    dead = list(dead_links(Path(folder)))
    for page, link in dead:
        print(f"{page}: {link} leads nowhere")
    print(f"{n_pages} pages, dead links: {len(dead)}")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
