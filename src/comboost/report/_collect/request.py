"""The arguments of a report, checked before anything is computed."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from comboost._data.sparse import read_sparse
from comboost._stats.formatting import name_in_sentence
from comboost._stats.intervals import check_confidence


@dataclass(frozen=True)
class EvaluationRequest:
    """The parameters of `ModelReport`, and ``command``: the command line that requested the report, if any."""

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
        """Raise if an argument is invalid."""
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
            if isinstance(model, type) or not hasattr(model, "predict"):
                raise TypeError(f"{role} is {model!r}, which has no predict method; give a fitted classifier.")
            check_is_fitted(model)
        for X in self.tables:
            read_sparse(X)
        for name in ("name", "baseline_name", "target", "source", "command"):
            if not isinstance(getattr(self, name), str | None):
                raise TypeError(f"{name}={getattr(self, name)!r} must be text, or None.")

    @property
    def models(self) -> dict[str, Any]:
        """The model and, if given, the baseline."""
        return {"model": self.model} | ({} if self.baseline is None else {"baseline": self.baseline})

    @property
    def tables(self) -> list[Any]:
        """X for each of the models."""
        return [self.X, *([] if self.baseline is None else [self.X if self.X_baseline is None else self.X_baseline])]

    @property
    def names(self) -> list[str]:
        """A distinct name for each of the models."""
        kinds = [type(inner_estimator(model)).__name__ for model in self.models.values()]
        given = [self.name, self.baseline_name]
        names = [name_in_sentence(name or kind) for name, kind in zip(given, kinds, strict=False)]
        if len(set(names)) < len(names):
            names[1] += " (baseline)"
        return names


def inner_estimator(model: Any) -> Any:
    """The last estimator inside pipelines and searches."""
    while hasattr(model, "best_estimator_") or isinstance(model, Pipeline):
        model = model.best_estimator_ if hasattr(model, "best_estimator_") else model[-1]
    return model


def inner_input(model: Any, X: Any) -> Any:
    """X as the last estimator inside pipelines and searches gets it."""
    if hasattr(model, "best_estimator_"):
        return inner_input(model.best_estimator_, X)
    if isinstance(model, Pipeline):
        return inner_input(model[-1], model[:-1].transform(X) if len(model) > 1 else X)
    return X
