"""Model files. In: a fitted estimator, or a file. Out: a file, whole or not at all, or the estimator that it holds.

docs/model-files.md says what is promised.
"""

import io
import os
import stat
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar

from sklearn.utils.validation import check_is_fitted

from comboost._data.checks import shown
from comboost._persistence.archive import Archive, Members, write_archive
from comboost._persistence.atomic_write import replace_file
from comboost._persistence.model_contents import FAULTS, check_format, make_model, members_of, read_content

PathOrStream = str | os.PathLike[str] | BinaryIO
Result = TypeVar("Result")


def save_to(model: Any, path: PathOrStream) -> None:
    """Write a fitted estimator to a file or a binary stream; see `Voter.save_model`."""
    check_is_fitted(model)
    members = members_of(model)
    if hasattr(path, "write"):
        write_stream(path, members)
        return
    check_regular(path, "written to")
    try:
        replace_file(path, lambda stream: write_archive(stream, members))
    except OSError as error:
        raise OSError(
            error.errno,
            f"The model cannot be saved: {error.strerror or error}. Nothing has changed; give a path in a folder that "
            "is there, can be written to and has room",
            os.fspath(path),
        ) from error


def write_stream(stream: Any, members: Members) -> None:
    """Write a whole file to a binary stream, of which nothing is known but that it can be written to."""
    if isinstance(stream, io.TextIOBase):
        raise TypeError('The model cannot be saved to a stream of text; open it in binary mode, "wb".')
    whole = io.BytesIO()
    write_archive(whole, members)
    left = whole.getvalue()
    while left:
        n_written = stream.write(left)  # some streams write a part only, some do not say
        if n_written == 0:
            raise OSError(f"The model cannot be saved: the stream takes none of the {len(left)} bytes that are left.")
        left = left[len(left) if n_written is None else n_written :]


def load_model(path: PathOrStream) -> Any:
    """Load an estimator from a file that ``save_model`` has written.

    No code of the file's is run, and the model is checked before it can predict: a file that is damaged, or made to do
    harm, is refused with a ValueError. It can still hold another model than you think, as any file can.

    Parameters
    ----------
    path : str, path-like or binary file object
        The file.

    Returns
    -------
    estimator
        A fitted estimator of the class that the file names: `CoMBoClassifier`, `AdaBoostMMClassifier`,
        `ConfusionBoostingClassifier`, or one of `comboost.baselines`. It answers with the same bytes, and can be
        fitted again, cloned, pickled, and go on with ``warm_start``.

    See Also
    --------
    CoMBoClassifier.save_model : Writes such files.

    Examples
    --------
    >>> import io
    >>> from comboost import CoMBoClassifier, load_model
    >>> stream = io.BytesIO()
    >>> CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0]], ["a", "b"]).save_model(stream)
    >>> load_model(io.BytesIO(stream.getvalue())).predict([[3.0]])
    array(['b'], dtype='<U1')
    """
    if hasattr(path, "read"):
        content = path.read()
        if not isinstance(content, bytes):
            raise TypeError('A model cannot be loaded from a stream of text; open it in binary mode, "rb".')
        return read_model(io.BytesIO(content), "in this stream")
    check_regular(path, "read")
    try:
        with open(path, "rb") as stream:
            return read_model(stream, os.fspath(path))
    except OSError as error:
        raise OSError(
            error.errno,
            f"The model cannot be loaded: {error.strerror or error}. Give the path of a file that save_model has "
            "written, and that you may read",
            os.fspath(path),
        ) from error


def check_regular(path: Any, use: str) -> None:
    """Raise if a path is none, or that of a folder, a pipe or a device."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"A model file cannot be {shown(path)}; give a path, or a file object in binary mode.")
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        seen = "a folder" if os.path.isdir(path) else "no regular file"
        raise ValueError(f"The path {os.fspath(path)!r} is {seen}; give one of a file that can be {use}.")


def read_model(stream: BinaryIO, name: str) -> Any:
    """The estimator in a file, which errors call by its name."""
    archive = understood(name, lambda: Archive(stream))
    content = understood(name, lambda: read_content(archive))
    check_format(content, name)
    return understood(f"{name}, written by comboost {content['comboost']},", lambda: make_model(content, archive))


def understood(name: str, read: Callable[[], Result]) -> Result:
    """What is read, if it is sound; else a ValueError with what to do."""
    try:
        return read()
    except FAULTS as error:
        seen = f"it has no {error}" if isinstance(error, KeyError) else error
        raise ValueError(
            f"The model file {name} is damaged, or none: {seen}. Expected is a file as save_model has written it; copy "
            "it anew from an intact one, or save the model again."
        ) from error
