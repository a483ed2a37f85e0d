"""What is asked. In: what the user gives. Out: an `Inquiry`, checked as far as it can be without an answer."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from comboost._stats.intervals import check_confidence
from comboost.report._wording import in_sentence


@dataclass(frozen=True)
class Inquiry:
    """What a report answers: how much of every class a model finds in some rows, and whether a baseline finds less.

    The attributes are the parameters of `ModelReport`; ``command`` is the line that a terminal was given, if it was.
    """

    model: Any
    X: Any
    y: Any
    baseline: Any = None
    X_baseline: Any = None
    name: str | None = None
    baseline_name: str | None = None
    target: str | None = None
    source: str | None = None
    confidence: float = 0.95
    random_state: int = 0
    command: str | None = None

    def check(self) -> None:
        """Raise if something is given that cannot be meant."""
        check_confidence(self.confidence)
        seed = self.random_state
        if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
            raise ValueError(
                f"random_state={seed!r} must be a whole number of at least 0: the same call gives the same report."
            )
        if self.baseline is None:
            for name in ("X_baseline", "baseline_name"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name} is given without baseline; give both, or neither.")
        for role, model in self.models.items():
            check_classifier(model, role)
        for name in ("name", "baseline_name", "target", "source", "command"):
            if not isinstance(getattr(self, name), str | None):
                raise TypeError(f"{name}={getattr(self, name)!r} must be text, or None.")

    @property
    def models(self) -> dict[str, Any]:
        """The model and, if there is one, the baseline."""
        return {"model": self.model} | ({} if self.baseline is None else {"baseline": self.baseline})

    @property
    def tables(self) -> list[Any]:
        """The rows as each of these wants them."""
        return [self.X, *([] if self.baseline is None else [self.X if self.X_baseline is None else self.X_baseline])]

    @property
    def names(self) -> list[str]:
        """What each of these is called; two of the same name are told apart."""
        given = [self.name, self.baseline_name]
        models = self.models.values()  # one or two
        kinds = [type(inner_estimator(model)).__name__ for model in models]
        names = [in_sentence(name or kind) for name, kind in zip(given, kinds, strict=False)]
        if len(set(names)) < len(names):
            names[1] += " (baseline)"
        return names


def check_classifier(model: Any, role: str) -> None:
    """Raise if it is no model that was fitted."""
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise TypeError(f"{role} is {model!r}, which has no predict to call; give a fitted classifier.")
    check_is_fitted(model)


def inside(model: Any, X: Any) -> tuple[Any, Any]:
    """The estimator at the heart of pipelines and searches, and the rows as it sees them."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            X = model[:-1].transform(X) if len(model) > 1 else X
            model = model[-1]
        else:
            return model, X


def inner_estimator(model: Any) -> Any:
    """The estimator at the heart of pipelines and searches."""
    while hasattr(model, "best_estimator_") or isinstance(model, Pipeline):
        model = model.best_estimator_ if hasattr(model, "best_estimator_") else model[-1]
    return model
