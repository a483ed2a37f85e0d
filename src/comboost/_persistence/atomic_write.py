"""Files that are complete, or as they were before. In: how to write one. Out: the file, under its name at the end."""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def replace_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], None]) -> None:
    """Write a file under another name, bring it to the disk, and rename it; whatever fails, no draft is left.

    A file that is there already keeps its permissions, and a link to it stays a link.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        draft.replace(target)
    except BaseException:  # Ctrl-C, too
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    with contextlib.suppress(OSError):  # the file is there, whatever the folder allows
        sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Bring the new name of a file to the disk, too."""
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
