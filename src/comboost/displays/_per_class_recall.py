"""Per-class recalls with confidence intervals against class sizes."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

from comboost._extras import import_pyplot
from comboost._stats.formatting import format_confidence, readable, short_names
from comboost._stats.intervals import check_confidence, wilson_interval
from comboost._types import Floats
from comboost.displays._layout import (
    LARGEST_FONT,
    LINE_HEIGHT,
    MAX_NAME,
    OTHERWISE,
    characters_in,
    every_nth,
    fold,
    font_for,
    height_of,
    legend_below,
    panels_for,
    round_numbers,
    size_of,
    style_of,
)
from comboost.displays._predictions import UNNAMED, Outcomes, count_outcomes, name_all, predict_all
from comboost.model_selection._confusion_folds import recalls as recalls_of

SIZE = (7.2, 5.0)  # inches
MARGIN = 0.03  # left and right of the outermost classes, relative to the width
MARKER, BESIDE = 5.0, 5.5  # points: size of a marker, distance of two models
NAME_FRACTION = 0.25  # maximum length of names, relative to the height
BELOW_TICKS = 24.0  # points from the axis to its label, and from that to the legend
MOVED, FAR = 0.02, 0.2  # shifts, relative to the width: label mentions them, axis has no scale


class PerClassRecallDisplay:
    """Recall of every class with its confidence interval against the number of samples, for one model or several.

    Create it with `from_estimator` or `from_predictions`. The axis of class sizes is logarithmic. Classes of similar
    size are moved apart, so that their names do not overlap. If all classes are of similar size, they are drawn in the
    order of their sizes.

    Parameters
    ----------
    recalls : dict of str to array-like of shape (n_classes,)
        Recalls by the name of the model; NaN for a class without samples.
    classes : array-like of shape (n_classes,)
        Classes.
    sizes : array-like of shape (n_classes,)
        Number of test samples of every class; a class with 0 is not drawn.
    confidence : float, default=0.95
        Confidence level of the Wilson intervals, in (0, 1).

    Attributes
    ----------
    recalls, classes, sizes, confidence
        As given.
    intervals : dict of str to tuple of two ndarrays of shape (n_classes,)
        Lower and upper confidence bounds of the recalls; 0 and 1 for a class without samples.
    ax_ : Axes
        The axes.
    figure_ : Figure
        Its figure.

    See Also
    --------
    comboost.model_selection.wilson_interval : The intervals.
    comboost.model_selection.cross_validate_confusion : Cross-validated recalls with intervals.

    Examples
    --------
    >>> from comboost import AdaBoostMMClassifier, CoMBoClassifier
    >>> from comboost.datasets import load_new_thyroid
    >>> from comboost.displays import PerClassRecallDisplay
    >>> X, y = load_new_thyroid(return_X_y=True)
    >>> models = {"CoMBo": CoMBoClassifier(), "AdaBoost.MM": AdaBoostMMClassifier()}
    >>> fitted = {name: model.fit(X[::2], y[::2]) for name, model in models.items()}
    >>> display = PerClassRecallDisplay.from_estimator(fitted, X[1::2], y[1::2])
    >>> display.classes, display.sizes
    (array(['hyper', 'hypo', 'normal'], dtype='<U6'), array([17., 15., 75.]))
    >>> display.recalls["CoMBo"].round(2)
    array([0.88, 0.87, 0.89])
    """

    def __init__(
        self, recalls: Mapping[str, ArrayLike], classes: ArrayLike, sizes: ArrayLike, *, confidence: float = 0.95
    ) -> None:
        self.classes: NDArray[Any] = np.asarray(classes)
        self.sizes: Floats = np.asarray(sizes, dtype=np.float64)
        self.recalls = {name: np.asarray(given, dtype=np.float64) for name, given in recalls.items()}
        self.confidence = confidence
        shapes = {"sizes": self.sizes.shape, **{name: given.shape for name, given in self.recalls.items()}}
        if not self.recalls or set(shapes.values()) != {self.classes.shape}:
            raise ValueError(
                f"There are {len(self.classes)} classes, and shapes are {shapes}; give one size, and one recall of "
                "every model, for each class."
            )
        self.intervals = {
            name: wilson_interval(given, self.sizes, confidence=confidence) for name, given in self.recalls.items()
        }

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        confidence: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Plot the recalls of fitted classifiers on test samples.

        Parameters
        ----------
        estimator : fitted classifier, or dict of str to fitted classifier
            Any scikit-learn classifier, or several by their display names.
        X : array-like of shape (n_samples, n_features)
            Test samples; there are no weights.
        y : array-like of shape (n_samples,)
            True classes.
        labels : array-like of shape (n_classes,), default=None
            Classes; by default those of the models and of y.
        confidence : float, default=0.95
            Confidence level of the intervals, in (0, 1).
        ax : Axes, default=None
            Axes to draw on; by default a new figure. Use figures with ``layout="constrained"``.

        Returns
        -------
        PerClassRecallDisplay
            The display.
        """
        import_pyplot(OTHERWISE)
        check_confidence(confidence)
        predictions, known = predict_all(estimator, X, y)
        return cls._of(count_outcomes(y, predictions, labels, known=known), confidence).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: Any,
        *,
        labels: ArrayLike | None = None,
        confidence: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Plot the recalls of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,), or dict of str to array-like
            Predicted labels, or those of several models by their display names.
        labels, confidence, ax
            As in `from_estimator`.

        Returns
        -------
        PerClassRecallDisplay
            The display.
        """
        import_pyplot(OTHERWISE)
        check_confidence(confidence)
        return cls._of(count_outcomes(y_true, name_all(y_pred), labels), confidence).plot(ax=ax)

    @classmethod
    def _of(cls, outcomes: Outcomes, confidence: float) -> Self:
        recalls = {name: recalls_of(counts) for name, counts in outcomes.counts.items()}
        return cls(recalls, outcomes.classes, outcomes.sizes, confidence=confidence)

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the recalls.

        Parameters
        ----------
        ax : Axes, default=None
            Axes to draw on; by default a new figure.

        Returns
        -------
        PerClassRecallDisplay
            The display.
        """
        tested = np.flatnonzero(self.sizes > 0)
        if tested.size == 0:
            raise ValueError("No class has samples, so there is nothing to plot; give test samples.")
        panel = panels_for(ax, 1, SIZE)[0]
        order = tested[np.argsort(self.sizes[tested], kind="stable")]
        low, high = size_limits(self.sizes[order])
        panel.set_xscale("log")
        panel.set_xlim(low, high)
        width = size_of(panel)[0]
        apart = max(LARGEST_FONT * LINE_HEIGHT, len(self.recalls) * BESIDE + MARKER) / width
        true_positions = np.log(self.sizes[order] / low) / np.log(high / low)
        positions = move_apart(true_positions, apart, MARGIN)
        spacing = min([apart, *np.diff(positions).tolist()])
        beside = min(BESIDE / width, spacing / (len(self.recalls) + 1))
        x = [
            low * (high / low) ** (positions + (model - (len(self.recalls) - 1) / 2) * beside)
            for model in range(len(self.recalls))
        ]
        self._name_classes(panel, order, low * (high / low) ** positions, spacing * width)
        self._label_axes(panel, (low, high), float(np.abs(positions - true_positions).max()))
        self._draw_models(panel, order, x)
        self.ax_, self.figure_ = panel, panel.get_figure()
        return self

    def _draw_models(self, panel: Any, order: NDArray[np.intp], x: list[Floats]) -> None:
        """Draw recalls with intervals, models side by side, and a legend with the mean recalls."""
        artists, names = [], []
        for number, (name, recall) in enumerate(self.recalls.items()):
            below, above = (np.abs(bound - recall)[order] for bound in self.intervals[name])
            style = style_of(number) | {"linestyle": "none"}
            style |= {"markersize": MARKER, "elinewidth": 0.9, "capsize": 1.5, "zorder": 3}
            artists.append(panel.errorbar(x[number], recall[order], (below, above), **style))
            mean = f"mean recall {np.mean(recall[order]):.2f}"
            names.append(mean if name == UNNAMED else f"{readable(name)}: {mean}")
        legend_below(panel, artists, names, gap=BELOW_TICKS + height_of(panel.get_xlabel()))

    def _name_classes(self, panel: Any, order: NDArray[np.intp], x: Floats, pitch: float) -> None:
        """Label every class with its name and size above the axes, with a thin line down to its recalls."""
        step = every_nth(pitch)
        size = font_for(np.inf, pitch * step, 1)
        limit = characters_in(NAME_FRACTION * size_of(panel)[1], size)
        names = short_names(self.classes, min(MAX_NAME, limit))
        texts = [f"{names[k]} ({self.sizes[k]:.0f})" for k in order]
        top = panel.secondary_xaxis("top")
        top.set_xticks(x[::step], texts[::step], rotation=90, fontsize=size, parse_math=False)
        top.set_xticks([], minor=True)
        top.tick_params(length=2)
        panel.vlines(x, 0, 1, transform=panel.get_xaxis_transform(), color="#dddddd", linewidth=0.6, zorder=1)

    def _label_axes(self, panel: Any, limits: tuple[float, float], moved: float) -> None:
        width, height = size_of(panel)
        ticks = [tick for tick in round_numbers(*limits) if tick == round(tick)] or [
            round(np.sqrt(limits[0] * limits[1]))
        ]
        panel.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks], fontsize=LARGEST_FONT)
        panel.set_xticks([], minor=True)
        panel.set_ylim(-0.03, 1.03)
        panel.tick_params(axis="y", labelsize=LARGEST_FONT)
        if moved > FAR:  # a scale would mislead
            panel.set_xticks([])
            scale = "in this order; sizes are too similar for a scale"
        else:
            scale = "log scale; classes of similar size are moved apart" if moved > MOVED else "log scale"
        panel.set_xlabel(fold(f"samples of the class ({scale})", width), fontsize=LARGEST_FONT)
        recall = f"recall (bars: {format_confidence(self.confidence)} confidence intervals)"
        panel.set_ylabel(fold(recall, 0.8 * height), fontsize=LARGEST_FONT)
        panel.set_title(fold("Per-class recall", width), fontsize=LARGEST_FONT + 1)


def size_limits(sizes: Floats) -> tuple[float, float]:
    """Limits of the axis of class sizes: at least a factor of two, and a margin on both sides."""
    low, high = float(sizes.min()), float(sizes.max())
    if high < 2 * low:
        middle = np.sqrt(low * high)
        low, high = middle / np.sqrt(2), middle * np.sqrt(2)
    margin = (high / low) ** (MARGIN / (1 - 2 * MARGIN))
    return low / margin, high * margin


def move_apart(positions: Floats, apart: float, margin: float = 0.0) -> Floats:
    """Nearest sorted positions within the margins of [0, 1] that are at least ``apart``, or as far as possible."""
    n = len(positions)
    apart = min(apart, (1 - 2 * margin) / max(n - 1, 1))
    steps = apart * np.arange(n)
    last = max(1 - margin - apart * (n - 1), margin)
    return np.asarray(isotonic_regression(positions - steps, y_min=margin, y_max=last) + steps)
