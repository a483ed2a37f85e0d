"""The estimator that is asked for. In: options, ``--set`` and a TOML file. Out: an estimator with these parameters."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.cli._errors import CommandError

ESTIMATORS: dict[str, Any] = {
    "confusion": ConfusionBoostingClassifier,
    "combo": CoMBoClassifier,
    "mm": AdaBoostMMClassifier,
}
DEFAULT_ESTIMATOR = "confusion"
CONFIG_ENTRIES = ("estimator", "parameters")
NO_VALUE = "none"  # TOML has no word for it
NOT_FROM_TEXT = {
    "estimator": "weak learners are objects",
    "warm_start": "every command starts anew",
    "verbose": "the command shows how far it is",
}


@dataclass(frozen=True)
class Recipe:
    """What is typed about the estimator; later ones win: ``config``, ``assignments``, ``options``."""

    estimator: str | None = None
    assignments: Sequence[str] = ()
    config: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def make_estimator(recipe: Recipe) -> Any:
    """The estimator of a recipe, not fitted.

    Examples
    --------
    >>> from comboost.cli._settings import Recipe, make_estimator
    >>> make_estimator(Recipe("combo", ["max_depth=2", "criterion=cost"], options={"n_estimators": 50}))
    CoMBoClassifier(criterion='cost', max_depth=2, n_estimators=50, random_state=0)
    """
    config = read_config(recipe.config)
    kind = recipe.estimator or config.get("estimator", DEFAULT_ESTIMATOR)
    if kind not in ESTIMATORS:
        raise CommandError(f"There is no estimator {kind!r}; give one of {', '.join(ESTIMATORS)}.")
    parameters = {"random_state": 0, **config.get("parameters", {})}
    parameters |= dict(map(read_assignment, recipe.assignments))
    parameters |= {name: value for name, value in recipe.options.items() if value is not None}
    known = ESTIMATORS[kind]().get_params()
    for name in parameters:
        check_parameter(name, kind, known)
    return ESTIMATORS[kind](**{name: plain_value(value) for name, value in parameters.items()})


def check_parameter(name: str, kind: str, known: Mapping[str, Any]) -> None:
    """Raise if an estimator has no such parameter, or if it cannot be given here."""
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(sorted(known))}."
        raise CommandError(f"The estimator {kind!r} has no parameter {name!r}; {hint}")
    if name in NOT_FROM_TEXT:
        raise CommandError(f"The parameter {name!r} cannot be given here: {NOT_FROM_TEXT[name]}; leave it out.")


def read_config(path: Path | None) -> dict[str, Any]:
    """What a TOML file says."""
    if path is None:
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"The settings {path} cannot be read: {error.strerror}; give a TOML file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"The settings {path} are no TOML: {error}.") from error
    for name in content:
        if name not in CONFIG_ENTRIES:
            raise CommandError(
                f'The settings {path} have an entry {name!r}; expected are estimator = "..." and a table [parameters].'
            )
    if not isinstance(content.get("parameters", {}), dict):
        raise CommandError(f"The parameters in {path} are no table; write [parameters], and name = value below it.")
    return content


def read_assignment(text: str) -> tuple[str, Any]:
    """A ``name=value``, the value written as in TOML, or as plain text.

    Examples
    --------
    >>> from comboost.cli._settings import read_assignment
    >>> read_assignment("noise=0.5"), read_assignment("loss=log"), read_assignment("early_stopping=true")
    (('noise', 0.5), ('loss', 'log'), ('early_stopping', True))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise CommandError(f"--set {text!r} is no setting; write name=value, such as --set max_depth=3.")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()


def plain_value(value: Any) -> Any:
    """A value of TOML as one of a parameter."""
    return None if isinstance(value, str) and value.lower() == NO_VALUE else value


def changed_settings(kind: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator, by the name of its class, that differ from its defaults and change the model."""
    (make,) = (each for each in ESTIMATORS.values() if each.__name__ == kind)
    defaults = make().get_params()
    return {name: value for name, value in parameters.items() if name != "n_jobs" and value != defaults[name]}
