"""Verdicts. In: how a program ended, and what was warned of. Out: passed, refused, void or a finding, with the reason.

Refusals are errors of the documented kinds, in a sentence of comboost's or of scikit-learn's checks: the innermost
frame is theirs and raises. What NumPy or pandas say from deep inside tells nobody which argument is wrong.
"""

import linecache
import re
import traceback
import warnings
from types import FrameType
from typing import Any, NamedTuple

DOCUMENTED = (ValueError, TypeError, MemoryError)
SPEAKERS = ("comboost", "sklearn", "joblib")  # packages whose own sentences are fine
CONSTRUCTORS = ("as_", "with_")  # functions of the laws that make tables
WEAK_LEARNERS = ("sklearn.tree", "sklearn.linear_model")  # those that programs boost
CASE = "<case>"  # the file name of programs
FORBIDDEN = (RuntimeWarning, DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)


class Verdict(NamedTuple):
    """What became of a case: passed, refused, void or finding; a line on the reason, and where it arose."""

    status: str
    reason: str = ""
    place: str = ""

    @property
    def key(self) -> str:
        """Findings with the same key are taken to be the same."""
        return re.sub(r"[\d.]+|'[^']*'", "#", f"{self.reason[:160]} {self.place}")


def judge_end(warned: list[Verdict]) -> Verdict:
    """The verdict on a program that came to its end."""
    return next(iter(warned), Verdict("passed"))


def judge_error(error: BaseException, warned: list[Verdict]) -> Verdict:
    """The verdict on a program that ended in an error."""
    frames = list(traceback.walk_tb(error.__traceback__))
    place = place_of([frame for frame, _ in frames])
    told = f"{type(error).__name__}: {str(error) or 'without a message'}"
    if isinstance(error, AssertionError) and not comes_from_comboost(frames):
        return Verdict("finding", f"broken law: {str(error) or 'an assertion'}")
    if not comes_from_comboost(frames):
        if is_construction(frames) and not isinstance(error, NameError | AttributeError | KeyboardInterrupt):
            return Verdict("void", told, place)
        return Verdict("finding", f"the program itself is wrong: {told}", place)
    if not is_documented(error):
        return Verdict("finding", f"undocumented kind of error: {told}", place)
    if not str(error):
        return Verdict("finding", f"empty message: {told}", place)
    if not is_spoken_for(frames):
        return Verdict("finding", f"error from deep inside: {told}", place)
    return next(iter(warned), Verdict("refused", told, place))


def is_documented(error: BaseException) -> bool:
    """Whether users are told of such errors."""
    own = type(error).__module__.split(".")[0] in SPEAKERS
    return type(error) in DOCUMENTED or isinstance(error, MemoryError) or own


def comes_from_comboost(frames: list[tuple[FrameType, int]]) -> bool:
    """Whether comboost was called when the error arose."""
    return any(package_of(frame) == "comboost" for frame, _ in frames)


def is_construction(frames: list[tuple[FrameType, int]]) -> bool:
    """Whether a program was still making its data: other libraries refuse some of what is drawn."""
    own = [frame.f_code.co_name for frame, _ in frames if frame.f_code.co_filename == CASE]
    return all(name == "<module>" or name.startswith(CONSTRUCTORS) for name in own)


def is_spoken_for(frames: list[tuple[FrameType, int]]) -> bool:
    """Whether the innermost frame raises a sentence of its own; a native function raises in the frame that calls it."""
    frame, line = frames[-1]
    if any(is_weak_learner(frame) for frame, _ in frames):
        return True
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    return package_of(frame) in SPEAKERS and text.startswith("raise")


def is_weak_learner(frame: FrameType) -> bool:
    """Whether a frame is of a classifier that is boosted: what that says is its own."""
    return str(frame.f_globals.get("__name__", "")).startswith(WEAK_LEARNERS)


def package_of(frame: FrameType) -> str:
    """The package whose code a frame runs."""
    return str(frame.f_globals.get("__name__", "")).split(".")[0]


def place_of(frames: list[FrameType]) -> str:
    """Where something arose: the innermost of the frames, and the innermost of comboost's."""
    own = [frame for frame in frames if package_of(frame) == "comboost"]
    places = dict.fromkeys(f"{f.f_globals.get('__name__')}.{f.f_code.co_name}" for f in (*frames[-1:], *own[-1:]))
    return ", called from ".join(places)


class WarningJudge:
    """Hears of every warning while it is entered; keeps those that comboost has caused and should not have."""

    def __init__(self) -> None:
        self._verdicts: list[Verdict] = []
        self._context = warnings.catch_warnings()

    def __enter__(self) -> list[Verdict]:
        self._context.__enter__()
        warnings.simplefilter("always")
        warnings.showwarning = self._hear
        return self._verdicts

    def __exit__(self, *_: object) -> None:
        self._context.__exit__(None, None, None)

    def _hear(self, message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        frames = [frame for frame, _ in traceback.walk_stack(None)]
        own = [frame for frame in frames if package_of(frame) == "comboost"]
        if own and issubclass(category, FORBIDDEN) and not any(map(is_weak_learner, frames)):
            self._verdicts.append(Verdict("finding", f"warning: {category.__name__}: {message}", place_of(own[:1])))
