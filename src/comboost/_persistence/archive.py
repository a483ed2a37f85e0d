"""Zip files of members that are stored without compression.

Reading is safe on any file: no member is larger than the file, so nothing inflates, and every size that a file states
is compared with its own size before memory is allocated. Nothing is extracted to a disk.
"""

import encodings.cp437  # noqa: F401, of zipfile; imported later, a process that is forked meanwhile would wait forever
import hashlib
import math
import struct
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from comboost._data.checks import shown
from comboost._persistence.plain_values import as_buffer

MemberList = list[tuple[str, list[Any]]]  # names, each with the buffers of its content

BEGINNING = b"PK\x03\x04"
END = struct.Struct("<4s4H2LH")  # signature, 2 disks, 2 counts, size and offset of the directory, size of a comment
LOCATOR = struct.Struct("<4sLQL")  # signature, disk, offset of the record below, disks
LARGE_END = struct.Struct("<4sQ2H2L4Q")  # as END, of files beyond 4 GiB
LOCAL_HEADER = 30  # bytes before every member, without its name
MAX_MEMBERS = 1000
MAX_DIRECTORY = 2**18  # bytes
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the same in all files, so that the same model makes the same bytes
PERMISSIONS = 0o644 << 16
CHUNK = 2**20  # bytes read at once
NOT_A_ZIP = (zipfile.BadZipFile, NotImplementedError, RuntimeError, struct.error, zlib.error, EOFError, OverflowError)


def write_archive(stream: BinaryIO, members: MemberList) -> None:
    """Write members to a seekable stream."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, parts in members:
            info = zipfile.ZipInfo(name, FIRST_DATE)
            info.create_system, info.external_attr = 3, PERMISSIONS  # the same on every system
            info.file_size = sum(memoryview(part).nbytes for part in parts)  # zipfile chooses the header by it
            with archive.open(info, "w") as member:
                for part in parts:
                    member.write(part)


class Archive:
    """Members of a seekable zip file, each of which is read once. A ValueError says what is wrong with the file."""

    def __init__(self, stream: BinaryIO) -> None:
        check_end(stream)
        try:
            self._zip = zipfile.ZipFile(stream)
        except (*NOT_A_ZIP, ValueError) as error:
            raise ValueError(f"its directory cannot be read ({error})") from error
        infos = self._zip.infolist()
        self._left = {info.filename: info for info in infos}
        if len(self._left) < len(infos):
            raise ValueError("two of its members have the same name")
        for info in infos:
            name = shown(info.filename)
            if info.compress_type != zipfile.ZIP_STORED or info.flag_bits or info.file_size != info.compress_size:
                raise ValueError(f"its member {name} is compressed or encrypted, and should be stored as it is")
            if info.orig_filename != info.filename:
                raise ValueError(f"the name of its member {name} has more characters than it shows")
        begins = [info.header_offset for info in infos]
        ends = [info.header_offset + LOCAL_HEADER + len(info.filename) + info.file_size for info in infos]
        overlaps = any(end > begin for end, begin in zip(ends, [*begins[1:], self._zip.start_dir], strict=True))
        if overlaps or min(begins, default=0) != 0:  # then they could be larger than the file
            raise ValueError("its members do not follow each other")

    @property
    def left(self) -> dict[str, int]:
        """Sizes of the members that were not read; their sum is below the size of the file."""
        return {name: info.file_size for name, info in self._left.items()}

    def take_bytes(self, name: str) -> bytes:
        """Read a member."""
        content, _ = self.take_array(name, b"", np.dtype(np.uint8), (self.left.get(name, 0),))
        return content.tobytes()

    def take_array(
        self, name: str, header: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> tuple[NDArray[Any], str]:
        """Return the array that follows a header in a member, and the SHA-256 of the member."""
        if name not in self._left:
            raise ValueError(f"it has no member {shown(name)}, or that is referred to twice")
        info, n_bytes = self._left.pop(name), len(header) + dtype.itemsize * math.prod(shape)
        if info.file_size != n_bytes:
            raise ValueError(f"its member {name} has {info.file_size} bytes instead of {n_bytes}")
        array = np.empty(shape, dtype)
        buffer = as_buffer(array)
        try:
            with self._zip.open(info) as member:
                if member.read(len(header)) != header:
                    raise ValueError(f"its member {name} does not begin as its array should")
                checksum = hashlib.sha256(header)
                while buffer:
                    chunk = member.read(min(CHUNK, len(buffer)))
                    if not chunk:
                        raise EOFError("it ends too soon")
                    checksum.update(chunk)
                    buffer[: len(chunk)] = chunk
                    buffer = buffer[len(chunk) :]
                member.read(1)  # at the end zipfile compares its own checksum
        except NOT_A_ZIP as error:
            raise ValueError(f"its member {name} cannot be read ({error})") from error
        return array, checksum.hexdigest()


def check_end(stream: BinaryIO) -> None:
    """Raise if a file is not a zip file, or if its directory is too long to be parsed."""
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


def check_directory(n_members: int, length: int, available: int) -> None:
    """Raise if a directory is longer than that of any model, or than the bytes before its end."""
    longest = min(MAX_DIRECTORY, available)
    if n_members > MAX_MEMBERS or length > longest:
        raise ValueError(
            f"its directory has {n_members} members and {length} bytes; expected are at most {MAX_MEMBERS} and "
            f"{longest}"
        )
