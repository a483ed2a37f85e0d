"""What is found of every class, as a picture. In: models and rows. Out: recalls with intervals against class sizes."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

from comboost._extras import import_pyplot
from comboost._stats.intervals import check_confidence, wilson_interval
from comboost._types import Floats
from comboost.displays._labels import (
    LARGEST_FONT,
    LINE_HEIGHT,
    MAX_NAME,
    characters_in,
    every_nth,
    fold,
    font_for,
    readable,
    round_numbers,
    short_names,
)
from comboost.displays._outcomes_of_models import UNNAMED, count_outcomes, name_all, predict_all
from comboost.displays._panels import OTHERWISE, height_of, legend_below, panels_for, room_of, style_of
from comboost.model_selection._confusion_folds import recalls as recalls_of

SIZE = (7.2, 5.0)  # inches
MARGIN = 0.03  # of the width, left and right of the outermost classes
MARKER, BESIDE = 5.0, 5.5  # points: of a marker, and from one model to the next
NAME_SHARE = 0.25  # of the height, that names of classes may take
BELOW_TICKS = 24.0  # points from the axis to its label, and from that to the legend
MOVED, FAR = 0.02, 0.2  # of the width: from which on it is said, and sizes can no longer be read off


class PerClassRecallDisplay:
    """What is found of every class: recall with its interval against the number of rows, for one model or several.

    Make it with `from_estimator` or `from_predictions`. The rows axis is logarithmic. Classes of nearly the same size
    are moved apart, so that each stands below its own name; the number of its rows is written beside the name.
    If all are of nearly the same size, they stand in the order of their sizes.

    Parameters
    ----------
    recalls : dict of str to array-like of shape (n_classes,)
        Share of every class that is found, by the name of the model; NaN for a class without rows.
    classes : array-like of shape (n_classes,)
        The classes.
    sizes : array-like of shape (n_classes,)
        Rows of every class that were tested; a class with 0 is not drawn.
    confidence : float, default=0.95
        Of the intervals, which are Wilson's; in (0, 1).

    Attributes
    ----------
    recalls, classes, sizes, confidence
        As given.
    intervals : dict of str to tuple of two ndarrays of shape (n_classes,)
        Lower and upper limits of the recalls; 0 and 1 for a class without rows.
    ax_ : Axes
        What was drawn on.
    figure_ : Figure
        Its figure.

    See Also
    --------
    comboost.model_selection.wilson_interval : The intervals.
    comboost.model_selection.cross_validate_confusion : Recalls with intervals of cross-validation.

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
        """Draw what fitted classifiers find on rows that they have not seen.

        Parameters
        ----------
        estimator : fitted classifier, or dict of str to fitted classifier
            One model, or several by the names that the picture shows. Any scikit-learn classifier will do.
        X : array-like of shape (n_samples, n_features)
            The rows; they are counted one by one.
        y : array-like of shape (n_samples,)
            Their classes.
        labels : array-like of shape (n_classes,), default=None
            The classes; by default all that a model or y has.
        confidence : float, default=0.95
            Of the intervals, in (0, 1).
        ax : Axes, default=None
            What to draw on; by default a new figure. Text has room in figures with ``layout="constrained"``.

        Returns
        -------
        PerClassRecallDisplay
            The display, which holds what was drawn.
        """
        import_pyplot(OTHERWISE)
        check_confidence(confidence)
        predictions, known = predict_all(estimator, X, y)
        outcomes = count_outcomes(y, predictions, labels, known=known)
        recalls = {name: recalls_of(counts) for name, counts in outcomes.counts.items()}
        return cls(recalls, outcomes.classes, outcomes.sizes, confidence=confidence).plot(ax=ax)

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
        """Draw what predictions find.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,), or dict of str to array-like
            Predicted labels, or those of several models by the names that the picture shows.
        labels, confidence, ax
            As in `from_estimator`.

        Returns
        -------
        PerClassRecallDisplay
            The display, which holds what was drawn.
        """
        import_pyplot(OTHERWISE)
        check_confidence(confidence)
        outcomes = count_outcomes(y_true, name_all(y_pred), labels)
        recalls = {name: recalls_of(counts) for name, counts in outcomes.counts.items()}
        return cls(recalls, outcomes.classes, outcomes.sizes, confidence=confidence).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the recalls.

        Parameters
        ----------
        ax : Axes, default=None
            What to draw on; by default a new figure.

        Returns
        -------
        PerClassRecallDisplay
            The display itself.
        """
        tested = np.flatnonzero(self.sizes > 0)
        if tested.size == 0:
            raise ValueError("No class has a row, so there is nothing to draw; give rows to test on.")
        panel = panels_for(ax, 1, SIZE)[0]
        order = tested[np.argsort(self.sizes[tested], kind="stable")]
        low, high = size_limits(self.sizes[order])
        panel.set_xscale("log")
        panel.set_xlim(low, high)
        width = room_of(panel)[0]
        apart = max(LARGEST_FONT * LINE_HEIGHT, len(self.recalls) * BESIDE + MARKER) / width
        true_places = np.log(self.sizes[order] / low) / np.log(high / low)
        places = move_apart(true_places, apart, MARGIN)
        spacing = min([apart, *np.diff(places).tolist()])
        beside = min(BESIDE / width, spacing / (len(self.recalls) + 1))
        x = [
            low * (high / low) ** (places + (model - (len(self.recalls) - 1) / 2) * beside)
            for model in range(len(self.recalls))
        ]
        self._name_classes(panel, order, low * (high / low) ** places, spacing * width)
        self._label_axes(panel, (low, high), float(np.abs(places - true_places).max()))
        self._draw_models(panel, order, x)
        self.ax_, self.figure_ = panel, panel.get_figure()
        return self

    def _draw_models(self, panel: Any, order: NDArray[np.intp], x: list[Floats]) -> None:
        """Recalls and intervals, models beside each other, and a legend of them with their means."""
        artists, names = [], []
        for place, (name, recall) in enumerate(self.recalls.items()):
            below, above = (np.abs(limit - recall)[order] for limit in self.intervals[name])
            style = style_of(place) | {"linestyle": "none"}
            style |= {"markersize": MARKER, "elinewidth": 0.9, "capsize": 1.5, "zorder": 3}
            artists.append(panel.errorbar(x[place], recall[order], (below, above), **style))
            mean = f"mean recall {np.mean(recall[order]):.2f}"
            names.append(mean if name == UNNAMED else f"{readable(name)}: {mean}")
        legend_below(panel, artists, names, gap=BELOW_TICKS + height_of(panel.get_xlabel()))

    def _name_classes(self, panel: Any, order: NDArray[np.intp], x: Floats, pitch: float) -> None:
        """Above every class its name and its rows, on a second axis, and a thin line down to its recalls."""
        step = every_nth(pitch)
        size = font_for(np.inf, pitch * step, 1)
        limit = characters_in(NAME_SHARE * room_of(panel)[1], size)
        names = short_names(self.classes, min(MAX_NAME, limit))
        texts = [f"{names[k]} ({self.sizes[k]:.0f})" for k in order]
        top = panel.secondary_xaxis("top")
        top.set_xticks(x[::step], texts[::step], rotation=90, fontsize=size, parse_math=False)
        top.set_xticks([], minor=True)
        top.tick_params(length=2)
        panel.vlines(x, 0, 1, transform=panel.get_xaxis_transform(), color="#dddddd", linewidth=0.6, zorder=1)

    def _label_axes(self, panel: Any, limits: tuple[float, float], moved: float) -> None:
        width, height = room_of(panel)
        ticks = [tick for tick in round_numbers(*limits) if tick == round(tick)] or [
            round(np.sqrt(limits[0] * limits[1]))
        ]
        panel.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks], fontsize=LARGEST_FONT)
        panel.set_xticks([], minor=True)
        panel.set_ylim(-0.03, 1.03)
        panel.tick_params(axis="y", labelsize=LARGEST_FONT)
        if moved > FAR:  # the axis is no scale any more
            panel.set_xticks([])
            scale = "in this order: sizes are too similar for a scale"
        else:
            scale = "log scale; classes of similar size are moved apart" if moved > MOVED else "log scale"
        panel.set_xlabel(fold(f"rows of the class ({scale})", width), fontsize=LARGEST_FONT)
        recall = f"recall: share of the class that is found (bars: {100 * self.confidence:g} % intervals)"
        panel.set_ylabel(fold(recall, 0.8 * height), fontsize=LARGEST_FONT)
        panel.set_title(fold("How much of every class is found", width), fontsize=LARGEST_FONT + 1)


def size_limits(sizes: Floats) -> tuple[float, float]:
    """What an axis shows of class sizes: a factor of two at least, and a margin on both sides."""
    low, high = float(sizes.min()), float(sizes.max())
    if high < 2 * low:
        middle = np.sqrt(low * high)
        low, high = middle / np.sqrt(2), middle * np.sqrt(2)
    margin = (high / low) ** (MARGIN / (1 - 2 * MARGIN))
    return low / margin, high * margin


def move_apart(places: Floats, apart: float, margin: float = 0.0) -> Floats:
    """The places, in order, that are nearest to these, so far apart at least, and between the margins of 0 to 1.

    If there is not room enough for that, they are as far apart as there is room for.
    """
    n_places = len(places)
    apart = min(apart, (1 - 2 * margin) / max(n_places - 1, 1))
    steps = apart * np.arange(n_places)
    last = max(1 - margin - apart * (n_places - 1), margin)
    return np.asarray(isotonic_regression(places - steps, y_min=margin, y_max=last) + steps)
