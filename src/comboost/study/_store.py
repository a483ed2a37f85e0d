"""A folder with one small file per result, and the settings that all results in it have in common.

Files are written atomically, so a killed run continues where it stopped.
"""

import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self

from comboost import __version__
from comboost._persistence.atomic_write import sync_folder
from comboost.study._experiment import Study
from comboost.study._folds import ENOUGH_SAMPLES, MIN_WINS, N_PARTS, N_RESAMPLES, Task, run_task
from comboost.study._methods import METHODS, find_obstacle

try:
    import fcntl
except ImportError:  # on Windows two runs in one folder are not detected
    fcntl = None  # type: ignore[assignment]

FORMAT = 3  # of the files in a folder
FINGERPRINTED = ("CoMBo", "AdaBoost.MM", "AdaBoost.NC", "SMOTEBoost", "CoMBo deep")
OPTIONAL = ("libraries.", "behaviour.")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "imbalanced-learn")

SETTINGS = "settings.json"
LEFT_AT_ONCE = {"folds", "lock", f"{SETTINGS}.tmp"}  # by a run that is killed right after its start
CHECKSUM = "checksum"
MAX_NAMED = 3  # foreign files
BYTES_PER_RESULT = 2 * 4096  # a few kB, in whole blocks
BYTES_FOR_TABLES = 10 * 2**20


class StoreError(Exception):
    """The folder cannot be used."""


class Store:
    """The results in a folder, open for one run at a time.

    Parameters
    ----------
    folder : str or path-like
        Created if it does not exist.
    description : dict
        From `describe`; a folder with another description is refused.

    Raises
    ------
    StoreError
        If the folder cannot be written, is in use, or holds results of another version or other settings.
    """

    def __init__(self, folder: str | os.PathLike[str], description: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self._lock: Any = None
        try:
            self._open(description)
        except OSError as error:
            self.close()
            raise StoreError(
                f"The folder {self.folder} cannot be written: {error.strerror or error}. Name another one with --out."
            ) from error
        except StoreError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _open(self, description: dict[str, Any]) -> None:
        self._read_settings()
        (self.folder / "folds").mkdir(parents=True, exist_ok=True)
        self._take_lock()
        stored = self._read_settings()  # another run may have created them meanwhile
        if stored is not None:
            differences = find_differences(stored, description)
            if differences:
                listed = "\n".join(f"  {difference}" for difference in differences)
                raise StoreError(
                    f"The folder {self.folder} holds results of other settings, which must not be mixed with new ones:"
                    f"\n{listed}\nName another folder with --out, or delete this one."
                )
            description = merge(stored, description)
        write_text(self.folder / SETTINGS, json.dumps(description, indent=2) + "\n")
        for left_over in self.folder.glob("folds/**/*.tmp"):
            left_over.unlink()

    def _read_settings(self) -> dict[str, Any] | None:
        """The settings of the folder; None if it is new. Raise if it holds other files."""
        path = self.folder / SETTINGS
        if path.exists():
            return read_settings(path)
        if any(self.folder.glob("folds/*/*/*.json")):
            raise StoreError(
                f"The folder {self.folder} has results but no {SETTINGS}, so their origin is unknown. Name another "
                "folder with --out."
            )
        foreign = list_foreign(self.folder)
        if foreign:
            named = ", ".join(foreign[:MAX_NAMED]) + (", ..." if len(foreign) > MAX_NAMED else "")
            raise StoreError(
                f"The folder {self.folder} holds files of other programs, which might be overwritten: "
                f"{named}. Name a new folder, or an empty one, with --out."
            )
        return None

    def _take_lock(self) -> None:
        self._lock = (self.folder / "lock").open("w")
        if fcntl is None:
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(
                f"Another run is writing to the folder {self.folder}. Wait for it, or name another folder with --out."
            ) from error

    def check_space(self, n_results: int) -> None:
        """Raise if the disk has no space for that many more results."""
        needed = n_results * BYTES_PER_RESULT + BYTES_FOR_TABLES
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise StoreError(
                f"The disk of the folder {self.folder} has {free / 2**20:.0f} MB left, and {n_results} results need "
                f"{needed / 2**20:.0f} MB. Free some space, or name a folder on another disk with --out."
            )

    def save(self, task: Task, result: dict[str, Any]) -> None:
        """Write a result to the disk."""
        path = self._find(task)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps(result | {CHECKSUM: checksum_of(result)}) + "\n")
        except OSError as error:
            raise StoreError(
                f"The result {path} cannot be written: {error.strerror or error}. All before it are kept: free some "
                "space and start the same command again."
            ) from error

    def load(self, tasks: Iterable[Task]) -> dict[Task, dict[str, Any]]:
        """Read all stored results of the tasks."""
        paths = {task: self._find(task) for task in tasks}
        return {task: read_result(path, task) for task, path in paths.items() if os.path.lexists(path)}

    def write(self, texts: Mapping[str, str]) -> None:
        """Write files into the folder."""
        try:
            for name, text in texts.items():
                write_text(self.folder / name, text)
        except OSError as error:
            raise StoreError(
                f"The tables cannot be written to {self.folder}: {error.strerror or error}. All results are kept: free "
                "some space and start the same command again."
            ) from error

    def _find(self, task: Task) -> Path:
        method = re.sub(r"[^a-z0-9]+", "-", task.method.lower())
        return self.folder / "folds" / task.dataset / method / f"run-{task.run:02d}-fold-{task.fold}.json"


def write_text(path: Path, text: str) -> None:
    """Write a file atomically."""
    draft = path.with_name(path.name + ".tmp")
    with draft.open("w", encoding="utf-8", newline="") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def list_foreign(folder: Path) -> list[str]:
    """Names of foreign files in a folder without settings; hidden files are ignored."""
    if not folder.is_dir():
        return []
    seen = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return sorted(path.name for path in seen if path.name not in LEFT_AT_ONCE or holds_any(path))


def holds_any(path: Path) -> bool:
    """Whether a folder or a file is not empty; drafts count as empty."""
    return any(path.iterdir()) if path.is_dir() else path.suffix != ".tmp" and path.stat().st_size > 0


def read_json(path: Path, advice: str) -> dict[str, Any]:
    """Read a JSON object, or raise with advice."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StoreError(f"The file {path} cannot be read: {error.strerror or error}. {advice}") from error
    except (ValueError, RecursionError) as error:  # the latter if brackets are nested too deeply
        raise StoreError(f"The file {path} is damaged: {error}. {advice}") from error
    if not isinstance(content, dict):
        raise StoreError(f"The file {path} is damaged: expected an object, got a {type(content).__name__}. {advice}")
    return content


def read_settings(path: Path) -> dict[str, Any]:
    """Read and check the settings of a folder."""
    advice = "Name another folder with --out."
    settings = read_json(path, advice)
    if not {"format", "comboost", "study"} <= settings.keys():
        raise StoreError(f"The file {path} is damaged or foreign: it does not describe a study. {advice}")
    for part in ("libraries", "behaviour"):
        found = settings.get(part) or {}
        if not isinstance(found, dict) or any(isinstance(value, dict | list) for value in found.values()):
            raise StoreError(f"The file {path} is damaged: {part} is not a list of versions. {advice}")
    return settings


def read_result(path: Path, task: Task) -> dict[str, Any]:
    """Read the result of a task, and check that it is intact."""
    advice = "Delete it, and it is computed again."
    result = read_json(path, advice)
    if result.pop(CHECKSUM, None) != checksum_of(result):
        raise StoreError(f"The file {path} is damaged: its checksum does not match. {advice}")
    if any(result.get(name) != value for name, value in task._asdict().items()):
        raise StoreError(f"The file {path} is damaged: it holds the result of another fold. {advice}")
    return result


def checksum_of(result: dict[str, Any]) -> str:
    """Hash of a result."""
    return hashlib.sha256(json.dumps(result).encode()).hexdigest()[:32]


# Settings: everything that the results depend on


def describe(study: Study) -> dict[str, Any]:
    """Describe everything that the results depend on.

    The requested data sets, methods and runs are not part of it: the result of a fold does not depend on them, so a
    folder may grow.

    Parameters
    ----------
    study : Study
        Numbers of the experiment.

    Returns
    -------
    dict
        With the entries format, comboost (its version), libraries, machine, study, rule, behaviour and candidates.
    """
    return {
        "format": FORMAT,
        "comboost": __version__,
        "libraries": {name: find_version(name) for name in LIBRARIES},
        "machine": platform.machine(),
        "study": asdict(study),
        "rule": {
            "n_parts": N_PARTS,
            "enough_samples": ENOUGH_SAMPLES,
            "n_resamples": N_RESAMPLES,
            "min_wins": MIN_WINS,
        },
        "behaviour": {name: fingerprint_method(name) for name in FINGERPRINTED},
        "candidates": {name: [*method.candidates, *method.category_candidates] for name, method in METHODS.items()},
    }


def find_differences(stored: dict[str, Any], current: dict[str, Any]) -> list[str]:
    """List the differences of two descriptions.

    Libraries that are missing on one side, and methods that need them, are ignored: no result depends on them.
    """
    old, new = flatten(stored), flatten(current)
    return [
        f"{key}: {old.get(key, 'nothing')} in the folder, {new.get(key, 'nothing')} now"
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key) and not (key.startswith(OPTIONAL) and None in (old.get(key), new.get(key)))
    ]


def merge(stored: dict[str, Any], current: dict[str, Any]) -> dict[str, Any]:
    """Complete the description of a folder with libraries and methods that were missing when it was created."""
    known = {
        part: {name: (stored.get(part) or {}).get(name) or found for name, found in current[part].items()}
        for part in ("libraries", "behaviour")
    }
    return current | known


def flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested dicts into one with dotted keys."""
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            leaves |= flatten(value, f"{prefix}{key}.")
        else:
            leaves[prefix + key] = value
    return leaves


def find_version(name: str) -> str | None:
    """Version of a library; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def fingerprint_method(method: str) -> str | None:
    """Hash of small results of a method, which detects changes within a version; None if it cannot run here."""
    if find_obstacle(METHODS[method]) is not None:
        return None
    tiny = Study(n_rounds=3, n_baseline_rounds=3)
    results = [run_task(Task(dataset, method, 0, 0), tiny) for dataset in ("glass", "car")]
    # Six digits, since CPUs may differ in the last one.
    kept = ("measures", "counts", "setting", "candidates", "n_iter")
    text = json.dumps([[result[name] for name in kept] for result in results])
    digits = re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.6g}", text)
    return hashlib.sha256(digits.encode()).hexdigest()[:12]
