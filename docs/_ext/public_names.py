"""Links both ways. In: pages that speak of public names. Out: links to the reference, and from there to the pages.

Pages need no special words: the first ``ConfusionBoostingClassifier`` of a page, written as code, becomes a link.
"""

import pkgutil
import re
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from sphinx import addnodes

import comboost

ONE_PAGE = {"cli", "study"}  # of which all names stand on one page
TELLING = ("start/", "guide/")  # what the reference leads to
REFERENCE = "reference/generated"


def public_names() -> dict[str, str]:
    """The full name of every public name, by all that it may be called."""
    names = {}
    below = [module.name for module in pkgutil.iter_modules(comboost.__path__) if module.name[0] != "_"]
    for package in ["comboost", *(f"comboost.{name}" for name in below if name not in ONE_PAGE)]:
        for name in import_module(package).__all__:
            names[name] = names[f"{package}.{name}"] = f"{package}.{name}"
    return names


def link_names(app: Any, doctree: nodes.document) -> None:
    """Make links of the names that a Markdown page writes as code, and remember them and those of its sessions."""
    docname = app.env.docname
    if not str(app.env.doc2path(docname)).endswith(".md"):
        return
    mentioned: set[str] = set()
    for literal in list(doctree.findall(nodes.literal)):
        name = app.public_names.get(literal.astext().removesuffix("()"))
        linked = isinstance(literal.parent, nodes.title | nodes.reference | addnodes.pending_xref)
        if name is None or name in mentioned or linked:
            continue
        mentioned.add(name)
        link = addnodes.pending_xref(
            "", literal.deepcopy(), refdomain="py", reftype="obj", reftarget=name, refexplicit=True, refwarn=True
        )
        link["refdoc"] = docname
        literal.replace_self(link)
    words = {word for block in doctree.findall(nodes.literal_block) for word in re.findall(r"\w+", block.astext())}
    app.env.mentions[docname] = mentioned | {name for word, name in app.public_names.items() if word in words}


def link_pages(app: Any, doctree: nodes.document, docname: str) -> None:
    """Tell at the end of a page of the reference which pages speak of its name."""
    path = PurePosixPath(docname)
    if str(path.parent) != REFERENCE:
        return
    pages = sorted(page for page, names in app.env.mentions.items() if path.name in names and page.startswith(TELLING))
    if not pages:
        return
    links = nodes.bullet_list()
    for page in pages:
        uri = app.builder.get_relative_uri(docname, page)
        link = nodes.reference("", app.env.titles[page].astext(), internal=True, refuri=uri)
        links += nodes.list_item("", nodes.paragraph("", "", link))
    section = next(doctree.findall(nodes.section))
    section += [nodes.rubric("", "Pages that speak of it"), links]


def start(app: Any) -> None:
    """Learn the names, and what is known from the last build."""
    app.public_names = public_names()
    app.env.mentions = getattr(app.env, "mentions", {})


def forget(_app: Any, env: Any, docname: str) -> None:
    """Forget what a page mentioned, which is read anew."""
    env.mentions.pop(docname, None)


def setup(app: Any) -> dict[str, bool]:
    """Register it."""
    app.connect("builder-inited", start)
    app.connect("env-purge-doc", forget)
    app.connect("doctree-read", link_names)
    app.connect("doctree-resolved", link_pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
