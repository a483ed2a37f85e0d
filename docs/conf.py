"""The site. In: the pages of this folder, docstrings, examples. Out: HTML; ``CONTRIBUTING.md`` has the command."""

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "comboost"
author = "the comboost developers"
project_copyright = author
version = release = importlib.metadata.version("comboost")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "commands",
    "gallery_pictures",
    "public_names",
    "root_pages",
]
exclude_patterns = ["_ext", "_templates"]
templates_path = ["_templates"]
toc_object_entries_show_parents = "hide"
default_role = "py:obj"  # what stands in single backticks in a docstring becomes a link where it can
highlight_language = "none"  # a block says which language it is in

myst_heading_anchors = 3
root_pages = {
    "contributing/setting-up": "CONTRIBUTING.md",
    "contributing/architecture": "ARCHITECTURE.md",
    "contributing/changes": "CHANGELOG.md",
}

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say it in words
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_class_members_toctree = False

plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 160)]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"examples/(?!dask_folder)",  # that one takes minutes and a cluster
    "within_subsection_order": "gallery_order.place",
    "reset_argv": "gallery_arguments.arguments",
    "abort_on_example_error": True,
    "doc_module": ("comboost",),
    "backreferences_dir": "reference/generated",
    "reference_url": {"comboost": None},
    "image_srcset": ["2x"],
    "write_computation_times": False,
    "min_reported_time": float("inf"),
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
}
gallery_pictures = {
    "dask_folder": "The share of each class that is found, by a model of all files and by one of the first",
    "reading_a_report": "The top of the page: the verdict, and the recall of every class beside that of the forest",
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "comboost"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"index": []}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": {"**": ["page-toc"], "guide/migrating": []},  # its tables need the room
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_nav_level": 1,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def home_of(member: Any) -> str:
    """The module that a member of a class was written in, as far as it says so."""
    for each in (member, getattr(member, "fget", None), getattr(member, "__objclass__", None)):
        module = getattr(each, "__module__", None)
        if module is not None:
            return str(module)
    return "comboost"


def is_foreign(_app: Any, _what: str, _name: str, member: Any, skip: bool, _options: Any) -> bool | None:
    """Leave out what classes inherit from others: their own pages tell of it."""
    return True if skip or home_of(member).split(".")[0] != "comboost" else None


def trim_blocks(_app: Any, doctree: nodes.document) -> None:
    """Leave out the empty line at the end of a session, which doctest alone needs."""
    for block in doctree.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip("\n")
        block.children = [nodes.Text(block.rawsource)]


def setup(app: Any) -> None:
    """Say which members are shown, and how code is."""
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("doctree-read", trim_blocks)
