"""Soft confusion matrices after every round: their norm, and the pairs of classes that are confused most."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from comboost._data.labels import find_distinct
from comboost._engine.memory import check_large
from comboost._extras import import_pyplot
from comboost._stats.formatting import short_names
from comboost._types import Floats
from comboost.displays._layout import (
    LARGEST_FONT,
    LOG_FROM,
    MARGIN,
    OTHERWISE,
    STYLES,
    below,
    draw_curve,
    finish_rounds,
    fold,
    legend_below,
    panels_for,
    set_log_scale,
    set_title,
    size_of,
    summarise,
)
from comboost.metrics._measures import NORM_SQUARES, norm_of, spectral_norm
from comboost.metrics._outcomes import SampleOutcomes, find_indices, label_array, weight_array
from comboost.metrics._soft import as_columns, check_pair_loss, soft_confusion_of

WIDTH, NORMS_HEIGHT, PAIRS_HEIGHT = 6.6, 2.9, 4.6  # inches
HEADROOM = 1.05  # above the curves
MAX_PAIR_NAME = 28  # characters of each class, so that a pair fits into a line
GREY: dict[str, Any] = {"color": "#b0b0b0", "linewidth": 0.5}
N_OPAQUE = 100  # grey curves; more of them are drawn fainter


class SoftConfusionDisplay:
    """Soft confusion matrix after every boosting round: its norm, and its largest entries.

    Create it with `from_estimator`. The first panel shows the norm of the soft confusion matrix and, below it, that of
    the error confusion matrix of the classes with the highest scores, which it bounds. The second panel shows the
    pairs of classes with the largest entries after the last round; all other pairs are grey. Classes with equal scores
    have an entry of 1.

    Parameters
    ----------
    matrices : array-like of shape (n_rounds, n_classes, n_classes)
        Soft confusion matrix after every round; see `comboost.metrics.soft_confusion_matrix`.
    classes : array-like of shape (n_classes,)
        Classes in the order of rows and columns.
    error_norm : array-like of shape (n_rounds,), default=None
        Norm of the error confusion matrix after every round.
    name : str, default=None
        Name of the model in the title.

    Attributes
    ----------
    matrices, classes, error_norm, name
        As given.
    norm : ndarray of shape (n_rounds,)
        Spectral norm of every soft confusion matrix.
    ax_ : ndarray of two Axes
        The axes: the norms, and the pairs of classes.
    figure_ : Figure
        Their figure.

    Examples
    --------
    >>> from comboost import ConfusionBoostingClassifier
    >>> from comboost.datasets import load_yeast
    >>> from comboost.displays import SoftConfusionDisplay
    >>> X, y = load_yeast(return_X_y=True)
    >>> model = ConfusionBoostingClassifier(n_estimators=50, smoothing=10, max_depth=3).fit(X[::2], y[::2])
    >>> display = SoftConfusionDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> display.matrices.shape
    (50, 10, 10)
    >>> bool((display.norm >= display.error_norm).all())
    True
    >>> display.largest_pairs(2)
    [('VAC', 'ME3'), ('CYT', 'NUC')]
    """

    def __init__(
        self,
        matrices: ArrayLike,
        classes: ArrayLike,
        *,
        error_norm: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        self.matrices: Floats = np.asarray(matrices, dtype=np.float64)
        self.classes: NDArray[Any] = np.asarray(classes)
        self.error_norm: Floats | None = None if error_norm is None else np.asarray(error_norm, dtype=np.float64)
        self.name = name
        n_classes, n_rounds = len(self.classes), len(self.matrices)
        if self.matrices.shape != (n_rounds, n_classes, n_classes) or n_rounds == 0 or n_classes < 2:
            raise ValueError(
                f"The matrices have shape {self.matrices.shape} for {n_classes} classes; give one matrix per round, of "
                "one round and two classes at least."
            )
        if not np.isfinite(self.matrices).all() or (self.matrices < 0.0).any():
            raise ValueError("The matrices have entries that are negative or not finite; give mean losses.")
        if self.error_norm is not None and self.error_norm.shape != (n_rounds,):
            raise ValueError(
                f"error_norm has shape {self.error_norm.shape} for {n_rounds} rounds; give one norm per round."
            )
        self.norm: Floats = np.array([spectral_norm(matrix.copy()) for matrix in self.matrices])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        loss: str = "logistic",
        sample_weight: ArrayLike | None = None,
        n_pairs: int = 6,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the soft confusion matrices of a booster on given samples.

        Parameters
        ----------
        estimator : fitted classifier
            A booster of comboost, or another classifier with ``staged_decision_function``.
        X : array-like of shape (n_samples, n_features)
            Samples, for example a validation set.
        y : array-like of shape (n_samples,)
            True classes.
        loss : {"logistic", "exponential"}, default="logistic"
            Loss of the matrix; see `comboost.metrics.soft_confusion_matrix`.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.
        n_pairs : int, default=6
            Number of pairs of classes to name, 1 to 7.
        name : str, default=None
            Name of the model in the title; by default its class.
        ax : sequence of two Axes, default=None
            Axes to draw on: one for the norms, one for the pairs. By default a new figure. Use figures with
            ``layout="constrained"``.

        Returns
        -------
        SoftConfusionDisplay
            The display.
        """
        import_pyplot(OTHERWISE)
        check_pair_loss(loss)
        check_n_pairs(n_pairs)
        check_staged(estimator)
        classes, true = label_array(estimator.classes_, "classes_"), label_array(y, "y")
        true_idx = find_indices(true, classes, "y")
        if (true_idx < 0).any():
            raise ValueError(
                f"y holds {find_distinct(true[true_idx < 0], 'y')[0].tolist()}, but the classes of the model are "
                f"{classes.tolist()}; leave out the rows of other classes."
            )
        weight = weight_array(sample_weight, true.size)
        check_matrices(getattr(estimator, "n_iter_", getattr(estimator, "n_estimators", 1)), classes.size)
        matrices, error_norm = [], []
        for stage in estimator.staged_decision_function(X):
            if len(stage) != true.size:
                raise ValueError(f"X has {len(stage)} rows and y {true.size}; give one class for every row.")
            scores = as_columns(np.asarray(stage, dtype=np.float64))
            matrices.append(soft_confusion_of(scores, true_idx, weight, loss))
            outcomes = SampleOutcomes(classes, true_idx, scores.argmax(axis=1), weight)
            error_norm.append(norm_of(outcomes.counts(NORM_SQUARES)))
        title = type(estimator).__name__ if name is None else name
        return cls(matrices, classes, error_norm=error_norm, name=title).plot(n_pairs=n_pairs, ax=ax)

    def largest_pairs(self, n_pairs: int = 6) -> list[tuple[Any, Any]]:
        """The pairs of classes with the largest entries after the last round, the largest first.

        Parameters
        ----------
        n_pairs : int, default=6
            Number of pairs; fewer are returned if there are not as many.

        Returns
        -------
        list of tuple
            True class and the class that it is confused with.
        """
        classes = self.classes.tolist()
        return [(classes[row], classes[column]) for row, column in self._order()[:n_pairs]]

    def plot(self, *, n_pairs: int = 6, ax: Any = None) -> Self:
        """Plot the norms and the entries.

        Parameters
        ----------
        n_pairs : int, default=6
            Number of pairs of classes to name, 1 to 7.
        ax : sequence of two Axes, default=None
            Axes to draw on: one for the norms, one for the pairs. By default a new figure.

        Returns
        -------
        SoftConfusionDisplay
            The display.
        """
        check_n_pairs(n_pairs)
        size = (WIDTH, NORMS_HEIGHT + PAIRS_HEIGHT)
        heights = {"height_ratios": [NORMS_HEIGHT, PAIRS_HEIGHT]}
        norms, pairs = panels_for(ax, 2, size, nrows=2, sharex=True, gridspec_kw=heights)
        pairs.set_xlabel("round", fontsize=LARGEST_FONT)
        self._draw_norms(norms, gap=MARGIN if ax is None else below(norms))
        self._draw_pairs(pairs, self._order(), n_pairs)
        for panel in (norms, pairs):
            finish_rounds(panel)
        self.ax_, self.figure_ = np.array([norms, pairs], dtype=object), norms.get_figure()
        return self

    def _order(self) -> list[tuple[int, int]]:
        """Row and column of the entries that are not always 0, the largest after the last round first."""
        last, n_classes = self.matrices[-1], len(self.classes)
        order = np.argsort(-last, axis=None, kind="stable").tolist()
        used = self.matrices.any(axis=0)
        return [(k // n_classes, k % n_classes) for k in order if used.flat[k]]

    def _draw_norms(self, panel: Any, gap: float) -> None:
        given = {"soft confusion matrix": self.norm, "error confusion matrix": self.error_norm}
        curves = {of: curve for of, curve in given.items() if curve is not None}
        artists = [draw_curve(panel, curve, number) for number, curve in enumerate(curves.values())]
        set_scale(panel, list(curves.values()))
        legend_below(panel, artists, [f"{of}: {summarise(curve)}" for of, curve in curves.items()], gap)
        panel.set_ylabel("norm", fontsize=LARGEST_FONT)
        set_title(panel, self.name, "norm of the confusion matrix (0: no errors)")

    def _draw_pairs(self, panel: Any, order: list[tuple[int, int]], n_pairs: int) -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.lines import Line2D

        names = short_names(self.classes, MAX_PAIR_NAME)
        rounds = np.arange(1, len(self.matrices) + 1)
        curves = [self.matrices[:, row, column] for row, column in order]
        artists = [draw_curve(panel, curve, number) for number, curve in enumerate(curves[:n_pairs])]
        texts = [
            f"{names[row]} as {names[column]}: {self.matrices[-1, row, column]:.3f}" for row, column in order[:n_pairs]
        ]
        if others := curves[n_pairs:]:
            lines = [np.column_stack([rounds, curve]) for curve in others]
            panel.add_collection(LineCollection(lines, zorder=1, alpha=min(1.0, N_OPAQUE / len(lines)), **GREY))
            artists.append(Line2D([], [], **GREY))
            texts.append(f"the other {len(others)} pairs")
        set_scale(panel, curves[:n_pairs])
        if artists:
            legend_below(panel, artists, texts, below(panel))
        panel.set_ylabel(fold("mean loss (1: equal scores)", size_of(panel)[1]), fontsize=LARGEST_FONT)
        set_title(panel, None, "Largest entries after the last round: true class as predicted class")


def set_scale(panel: Any, curves: list[Floats]) -> None:
    """Let the vertical axis begin at 0, or make it logarithmic if a value is far above 1, the loss of equal scores."""
    top = max((float(curve.max()) for curve in curves), default=0.0)
    if top > LOG_FROM:
        set_log_scale(panel)
    else:
        panel.set_ylim(0, HEADROOM * top or 1.0)


def check_n_pairs(n_pairs: Any) -> None:
    """Raise if that many pairs cannot be told apart by their styles."""
    if not isinstance(n_pairs, Integral) or not 1 <= int(n_pairs) <= len(STYLES):
        raise ValueError(f"n_pairs={n_pairs!r}; give a whole number from 1 to {len(STYLES)}.")


def check_staged(estimator: Any) -> None:
    """Raise if it is not a fitted classifier with a score after every round."""
    if isinstance(estimator, type) or not hasattr(estimator, "staged_decision_function"):
        raise TypeError(
            f"estimator is {estimator!r}, which has no staged_decision_function; give a fitted booster, such as "
            "CoMBoClassifier().fit(X, y). For a pipeline give its last step and the transformed samples, for a search "
            "its best_estimator_."
        )
    check_is_fitted(estimator)


def check_matrices(n_rounds: int, n_classes: int) -> None:
    """Raise if the matrices of all rounds need more memory than is available."""
    check_large(
        f"A display of {n_rounds} rounds and {n_classes} classes",
        {"soft confusion matrices": n_rounds * n_classes**2 * np.dtype(np.float64).itemsize},
        "Compute those of fewer rounds with soft_confusion_matrix and staged_decision_function, and give them to the "
        "constructor.",
    )
