"""What the site promises and can be known without building it: names, links, pages, pictures, code that is run.

And that dead links of a built site are found.
"""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import comboost
from tools import check_links

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), ROOT / "examples" / "README.md"])
GUIDES = [
    page for room in ("start", "guide", "reference", "contributing") for page in sorted((DOCS / room).glob("*.md"))
]
PACKAGES = ["comboost", *(f"comboost.{m.name}" for m in pkgutil.iter_modules(comboost.__path__) if m.name[0] != "_")]
GENERATED = (DOCS / "gallery", REFERENCE / "generated")
FENCE = re.compile(r"^```.*?^```", flags=re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"\.\. plot:: (\S+)")
PYTHON = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


def names_of(page):
    return str(page.relative_to(ROOT))


def listed_names():
    """The names that stand in lists of the reference, or have a directive of their own."""
    names = set()
    for text in (page.read_text() for page in REFERENCE.glob("*.rst")):
        names.update(re.findall(r"^\.\. (?:auto|py:(?!module))[\w:]+:: (comboost\.[\w.]+)", text, re.MULTILINE))
        module = re.search(r"^\.\. (?:automodule|currentmodule):: (\S+)", text, re.MULTILINE)
        for block in re.findall(r"^\.\. autosummary::\n(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL):
            names.update(f"{module[1]}.{name}" for name in re.findall(r"^   (\w+)$", block, re.MULTILINE))
    return names


def anchors_of(page):
    """What headings are called in links."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def source_of(path):
    """The file that a page of the site is made from."""
    if path.parent == GENERATED[0]:
        return ROOT / "examples" / ("GALLERY_HEADER.txt" if path.stem == "index" else f"{path.stem}.py")
    return path


def contents_of(page):
    """The pages that the contents of a page lead to."""
    for tree in TREE.findall(page.read_text()):
        for entry in (line.strip() for line in tree.splitlines() if line.strip() and not line.startswith(":")):
            found = list(page.parent.glob(f"{entry}.md")) + list(page.parent.glob(f"{entry}.rst"))
            yield from (each.resolve() for each in found)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package):
    public = {f"{package}.{name}" for name in importlib.import_module(package).__all__}
    assert public - listed_names() == set()


def test_every_name_in_the_reference_is_there():
    public = {f"{package}.{name}" for package in PACKAGES for name in importlib.import_module(package).__all__}
    assert listed_names() - public - set(PACKAGES) == set()


@pytest.mark.parametrize("page", PAGES, ids=names_of)
def test_no_link_leads_nowhere(page):
    dead = []
    for path, anchor in LINK.findall(CODE.sub("", FENCE.sub("", page.read_text()))):
        target = source_of((page.parent / path).resolve() if path else page)
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            dead.append(f"{path}#{anchor}" if anchor else path)
    assert dead == []


def test_every_page_is_in_the_contents():
    seen, coming = set(), [DOCS / "index.md"]
    while coming:
        page = coming.pop()
        if page not in seen:
            seen.add(page)
            coming += contents_of(page)
    pages = {page for suffix in ("md", "rst") for page in DOCS.rglob(f"*.{suffix}") if "_templates" not in page.parts}
    assert {page for page in pages - seen if not set(page.parents) & set(GENERATED)} == set()


def test_every_picture_is_shown_and_every_shown_one_is_there():
    shown = {DOCS / name for page in PAGES for name in PICTURE.findall(page.read_text())}
    assert shown == set((DOCS / "pictures").glob("*.py"))


@pytest.mark.parametrize("page", GUIDES, ids=names_of)
def test_python_on_a_page_is_a_session_that_is_run(page):
    for block in PYTHON.findall(page.read_text()):
        assert block.startswith(">>> ")
        assert block.endswith("\n\n"), "doctest would take the fence for what is printed"


SITE = {
    "index.html": """
        <h1 id="top">A site</h1> <a href="guide/">a folder</a> <a href="guide/page.html?q=1#%C3%A9">a fragment</a>
        <a href="#top">here</a> <a href="#">here, too</a> <a href="">and here</a> <img src="a%20picture.png">
        <a href="https://example.org/gone#fragment">elsewhere</a> <a href="//example.org/gone">elsewhere</a>
        <a href="mailto:somebody@example.org">somebody</a> <a href="/guide/page.html#old">from the root</a>
    """,
    "guide/index.html": '<img src="../a picture.png" srcset="../a%20picture.png, ../a%20picture.png 2x">',
    "guide/page.html": '<h2 id="é">A page</h2> <a name="old"></a>',
    "_static/macros.html": '<a href="{{ not a page }}">',
    "a picture.png": "",
}


def build(site, **changed):
    """Write the files of a site, some of them changed."""
    for name, content in (SITE | changed).items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(content, encoding="utf-8")


def test_links_of_a_built_site_that_lead_somewhere_are_not_dead(tmp_path, capsys):
    build(tmp_path)
    assert check_links.main(str(tmp_path)) == 0
    assert capsys.readouterr().out == "3 pages, dead links: 0\n"


@pytest.mark.parametrize(
    "element",
    [
        '<a href="gone.html">',
        '<a href="gone/">',
        '<a href="page.html#gone">',
        '<a href="#gone">',
        '<a href="/page.html">',
        '<a href="../../outside.html">',
        '<script src="gone.js"></script>',
        '<img src="../a picture.png" srcset="gone.png 2x">',
    ],
)
def test_dead_link_of_a_built_site_is_told_with_its_page(tmp_path, capsys, element):
    (tmp_path / "outside.html").touch()
    build(tmp_path / "site", **{"guide/index.html": element})
    (dead,) = check_links.dead_links(tmp_path / "site")
    assert dead[0] == "guide/index.html"
    assert dead[1] in element
    assert check_links.main(str(tmp_path / "site")) == 1
    assert capsys.readouterr().out == f"{dead[0]}: {dead[1]} leads nowhere\n3 pages, dead links: 1\n"


def test_folder_without_pages_is_no_site(tmp_path, capsys):
    assert check_links.main(str(tmp_path)) == 1
    assert "build the site there first" in capsys.readouterr().err
