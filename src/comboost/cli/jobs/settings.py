"""Estimators from options, ``--set`` and a TOML file."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._stats.formatting import shorten
from comboost.cli.input.delimited import MAX_SHOWN
from comboost.cli.terminal.errors import CommandError

ESTIMATORS: dict[str, Any] = {
    "confusion": ConfusionBoostingClassifier,
    "combo": CoMBoClassifier,
    "mm": AdaBoostMMClassifier,
}
OURS = {"confusion": "ConfusionBoosting", "combo": "CoMBo", "mm": "AdaBoost.MM"}  # names in tables
DEFAULT_ESTIMATOR = "confusion"
DEEPEST = "give a number, text, a list, or a list of lists"  # of the values of parameters
NO_VALUE = "none"  # TOML has no null
NOT_FROM_TEXT = {
    "estimator": "weak learners are objects",
    "warm_start": "every command starts a new model",
    "verbose": "the command shows its progress",
}


@dataclass(frozen=True)
class Settings:
    """Settings of an estimator; ``options`` override ``assignments``, and these override ``config``.

    ``defaults`` replace the defaults of ConfusionBoosting.
    """

    estimator: str | None = None
    assignments: Sequence[str] = ()
    config: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)


def make_estimator(settings: Settings) -> Any:
    """Construct an estimator, not fitted; ValueError names a wrong parameter and its allowed values."""
    config = read_config(settings.config)
    kind = settings.estimator or config.get("estimator", DEFAULT_ESTIMATOR)
    if kind not in ESTIMATORS:
        raise CommandError(f"There is no estimator {kind!r}; give one of {', '.join(ESTIMATORS)}.")
    given = {**config.get("parameters", {}), **dict(map(read_assignment, settings.assignments))}
    given |= {name: value for name, value in settings.options.items() if value is not None}
    defaults = dict(settings.defaults) if kind == "confusion" else {}
    if defaults:
        check_no_search(given)
        if given.get("max_leaf_nodes") is not None:
            del defaults["max_depth"]  # the size of the trees is given
    parameters = {"random_state": 0, **defaults, **given}
    known = ESTIMATORS[kind]._table.declared()
    for name, value in parameters.items():
        if name not in known:
            close = " or ".join(map(repr, get_close_matches(name, known)))
            hint = f"did you mean {close}?" if close else f"its parameters are {', '.join(sorted(known))}."
            raise CommandError(f"The estimator {kind!r} has no parameter {name!r}; {hint}")
        if name in NOT_FROM_TEXT:
            raise CommandError(f"The parameter {name!r} cannot be given here: {NOT_FROM_TEXT[name]}; leave it out.")
        if isinstance(value, str) and value.lower() == NO_VALUE:
            parameters[name] = None
    estimator = ESTIMATORS[kind](**parameters)
    estimator._table.of(estimator)  # fit checks the values, too, but only after the data are read
    return estimator


def read_config(path: Path | None) -> dict[str, Any]:
    """Read a TOML file with settings."""
    if path is None:
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"The settings {path} cannot be read: {error.strerror}; give a TOML file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"The settings {path} are not valid TOML: {error}.") from error
    except RecursionError as error:
        raise CommandError(f"The settings {path} are nested too deeply; {DEEPEST}.") from error
    for name in content:
        if name not in ("estimator", "parameters"):
            raise CommandError(
                f'The settings {path} have an entry {name!r}; expected estimator = "..." and a table [parameters].'
            )
    if not isinstance(content.get("parameters", {}), dict):
        raise CommandError(f"The parameters in {path} are not a table; write [parameters], and name = value below it.")
    return content


def read_assignment(text: str) -> tuple[str, Any]:
    """Read ``name=value``; the value is written as in TOML, or as plain text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise CommandError(f"--set {text!r} is not an assignment; write name=value, such as --set max_depth=3.")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()
    except RecursionError as error:
        seen = shorten(value.strip(), MAX_SHOWN)
        raise CommandError(f"The value of --set {name.strip()}={seen} is nested too deeply; {DEEPEST}.") from error


def check_no_search(given: Mapping[str, Any]) -> None:
    """Raise if ``--no-search`` contradicts other options."""
    for name in ("smoothing", "max_depth"):
        if given.get(name) == "auto":
            raise CommandError(f"--no-search contradicts {name}=auto, which starts a search; leave one of them out.")


def changed_parameters(estimator: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that affect the model and differ from the defaults; estimators by the name of the class."""
    (kind,) = (each for each in ESTIMATORS.values() if each.__name__ == estimator)
    known = kind._table.declared()
    return {name: value for name, value in parameters.items() if name != "n_jobs" and value != known[name].default}
