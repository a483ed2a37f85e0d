"""Atomic writes: a file has its new content or its old one."""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def replace_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], None]) -> None:
    """Write a temporary file, flush it to the disk, and rename it; remove it if anything fails.

    An existing file keeps its permissions, and a link stays a link.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:  # Ctrl-C, too
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    with contextlib.suppress(OSError):  # the file is complete, even if its folder cannot be flushed
        sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Flush the names of files in a folder to the disk."""
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
