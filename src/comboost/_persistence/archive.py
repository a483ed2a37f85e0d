"""A zip file that can be trusted. In: members, or a file of anybody's. Out: a zip file, or its members, checked.

Members are stored, not deflated, so that none is larger than the file it came from: there is nothing to inflate, and
what a file says of its sizes is held against its own size before anything is read. Nothing is extracted to a disk.
"""

import hashlib
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from comboost._data.checks import shown
from comboost._persistence.arrays import as_buffer

Members = list[tuple[str, list[Any]]]  # by their names, each as the buffers that it is made of

BEGINNING = b"PK\x03\x04"
END = struct.Struct("<4s4H2LH")  # signature, 2 disks, 2 counts, size and place of the directory, size of a comment
LOCATOR = struct.Struct("<4sLQL")  # signature, disk, place of the record below, disks
LARGE_END = struct.Struct("<4sQ2H2L4Q")  # as the end, of files beyond 4 GiB
LOCAL_HEADER = 30  # bytes before every member, beside its name
MAX_MEMBERS = 1000
MAX_DIRECTORY = 2**18  # bytes
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the same for all files, so that the same model makes the same bytes
PERMISSIONS = 0o644 << 16
READ_AT_ONCE = 2**20  # bytes that are read at once
NOT_A_ZIP = (zipfile.BadZipFile, NotImplementedError, RuntimeError, struct.error, zlib.error, EOFError, OverflowError)


def write_archive(stream: BinaryIO, members: Members) -> None:
    """Write members one after the other to a stream that can be sought."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, parts in members:
            info = zipfile.ZipInfo(name, FIRST_DATE)
            info.create_system, info.external_attr = 3, PERMISSIONS  # wherever it is written
            info.file_size = sum(memoryview(part).nbytes for part in parts)  # tells zipfile how long the header is
            with archive.open(info, "w") as member:
                for part in parts:
                    member.write(part)


class Archive:
    """The members of a zip file, each to be read once.

    Parameters
    ----------
    stream : binary stream
        The file, which can be sought. ValueError says what is wrong with it.
    """

    def __init__(self, stream: BinaryIO) -> None:
        check_end(stream)
        try:
            self._zip = zipfile.ZipFile(stream)
        except (*NOT_A_ZIP, ValueError) as error:
            raise ValueError(f"its directory cannot be read ({error})") from error
        self._left = {info.filename: info for info in self._zip.infolist()}
        if len(self._left) < len(self._zip.infolist()):
            raise ValueError("two of its members have the same name")
        for info in self._left.values():
            check_member(info)
        check_places(self._zip.infolist(), self._zip.start_dir)

    @property
    def left(self) -> dict[str, int]:
        """Members that have not been read, and their sizes; together they are smaller than the file."""
        return {name: info.file_size for name, info in self._left.items()}

    def take_bytes(self, name: str) -> bytes:
        """Read a member."""
        content, _ = self.take_array(name, b"", np.dtype(np.uint8), (self.left.get(name, 0),))
        return content.tobytes()

    def take_array(
        self, name: str, header: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> tuple[NDArray[Any], str]:
        """Read a member that is a header and an array; the array, never larger than its member is, and a checksum."""
        if name not in self._left:
            raise ValueError(f"it has no member {shown(name)}, or that is asked for twice")
        info, n_bytes = self._left.pop(name), len(header) + dtype.itemsize * math.prod(shape)
        if info.file_size != n_bytes:
            raise ValueError(f"its member {name} has {info.file_size} bytes instead of {n_bytes}")
        array = np.empty(shape, dtype)
        try:
            with self._zip.open(info) as member:
                if member.read(len(header)) != header:
                    raise ValueError(f"its member {name} does not begin as its array should")
                found = hashlib.sha256(header)
                for part in fill(as_buffer(array), member):
                    found.update(part)
                member.read(1)  # at the end zipfile looks at a checksum of its own
        except NOT_A_ZIP as error:
            raise ValueError(f"its member {name} cannot be read ({error})") from error
        return array, found.hexdigest()


def fill(buffer: memoryview, stream: IO[bytes]) -> Iterator[bytes]:
    """Read all that a buffer holds, and tell what is read, part by part."""
    while buffer:
        part = stream.read(min(READ_AT_ONCE, len(buffer)))
        if not part:
            raise EOFError("it ends too soon")
        buffer[: len(part)] = part
        buffer = buffer[len(part) :]
        yield part


def check_end(stream: BinaryIO) -> None:
    """Raise if a file is no zip file, or has a directory so long that Python should not read it."""
    size = stream.seek(0, 2)
    stream.seek(0)
    beginning = stream.read(len(BEGINNING))
    if beginning != BEGINNING:
        raise ValueError(f"it begins with {beginning!r}, and a zip file with {BEGINNING!r}")
    if size < END.size:
        raise ValueError(f"it has {size} bytes only")
    stream.seek(-min(size, END.size + LOCATOR.size + LARGE_END.size), 2)
    tail = stream.read()
    signature, *_, n_members, length, _, comment = END.unpack(tail[-END.size :])
    if signature != b"PK\x05\x06" or comment:
        raise ValueError("it does not end as a zip file should: it is cut off, or something was added")
    check_directory(n_members, length, size - END.size)
    locator = tail[-END.size - LOCATOR.size : -END.size]
    if locator[:4] == b"PK\x06\x07":
        large_end = tail[: -END.size - LOCATOR.size]
        if len(large_end) < LARGE_END.size or LOCATOR.unpack(locator)[2] != size - len(tail):
            raise ValueError("the end of its directory is not where it should be")
        *_, n_members, length, _ = LARGE_END.unpack(large_end)
        check_directory(n_members, length, size - len(tail))


def check_directory(n_members: int, length: int, room: int) -> None:
    """Raise if a directory is longer than that of any model, or than what stands before its end."""
    longest = min(MAX_DIRECTORY, room)
    if n_members > MAX_MEMBERS or length > longest:
        raise ValueError(
            f"its directory has {n_members} members and {length} bytes; expected are at most {MAX_MEMBERS} and "
            f"{longest}"
        )


def check_member(info: zipfile.ZipInfo) -> None:
    """Raise if a member is not stored as it is."""
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits or info.file_size != info.compress_size:
        raise ValueError(f"its member {shown(info.filename)} is compressed or encrypted, and should be stored as it is")
    if info.orig_filename != info.filename:
        raise ValueError(f"the name of its member {shown(info.filename)} is not all of its name")


def check_places(infos: list[zipfile.ZipInfo], end: int) -> None:
    """Raise if members lie upon each other: together they could be larger than their file."""
    begins = [info.header_offset for info in infos]
    ends = [info.header_offset + LOCAL_HEADER + len(info.filename) + info.file_size for info in infos]
    if any(last > first for last, first in zip(ends, [*begins[1:], end], strict=True)) or min(begins, default=0) != 0:
        raise ValueError("its members do not lie one after the other")
