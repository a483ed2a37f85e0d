"""Pictures of examples that the gallery cannot take itself. In: their names. Out: their pages, with the picture.

One opens a page in a browser, one needs a cluster; ``tools/draw_pictures.py`` has drawn what they end in.
"""

from typing import Any

DOWNLOADS = ".. _sphx_glr_download_"


def show_picture(app: Any, docname: str, source: list[str]) -> None:
    """Put the picture of an example below its code."""
    name = docname.removeprefix("gallery/")
    if name in app.config.gallery_pictures:
        picture = f".. image:: /pictures/{name}.png\n   :alt: {app.config.gallery_pictures[name]}\n\n"
        code, downloads, rest = source[0].partition(DOWNLOADS)
        source[0] = code + picture + downloads + rest


def setup(app: Any) -> dict[str, bool]:
    """Register it."""
    app.add_config_value("gallery_pictures", {}, "env")
    app.connect("source-read", show_picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
