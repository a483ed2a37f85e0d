"""Heat maps of error confusion matrices with their row sums and norms."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comboost._extras import import_pyplot
from comboost._stats.formatting import percent, readable, short_names, shorten
from comboost._types import Floats
from comboost.displays._layout import (
    LARGEST_FONT,
    MAX_NAME,
    MAX_TITLE,
    OTHERWISE,
    WIDE_CHARACTER,
    characters_in,
    every_nth,
    fold,
    font_for,
    ink_on,
    like_subplots,
    panels_for,
    run_layout,
    size_of,
)
from comboost.displays._predictions import UNNAMED, Outcomes, count_outcomes, name_all, predict_all
from comboost.metrics._measures import confusion_of

MIN_COLOUR_MAXIMUM = 0.25  # of the colour scale, so that small fractions do not look large
DIAGONAL = "#d0d0d0"
CELL_CHARACTERS = 3.6  # three and a margin
INCHES_PER_CLASS, INCHES_AROUND = 0.26, 1.9  # of a panel
PANEL_INCHES = (4.2, 9.5)  # at least, at most
LABEL_FRACTION = 0.4  # maximum length of names, relative to the matrix
NO_SAMPLES = "–"
NBSP = "\N{NO-BREAK SPACE}"


class ConfusionNormDisplay:
    """Heat map of the error confusion matrix C with its row sums and its norm.

    Create it with `from_estimator` or `from_predictions`; several models are drawn side by side on the same scale.
    Row l shows which fraction of class l is predicted as each other class, in percent; "missed" is the sum of the row,
    1 − recall.

    Parameters
    ----------
    confusions : dict of str to ndarray of shape (n_classes, n_classes)
        Error confusion matrix of every model by its name; see `comboost.metrics.error_confusion_matrix`.
    classes : array-like of shape (n_classes,)
        Classes in the order of rows and columns.
    sizes : array-like of shape (n_classes,), default=None
        Number of samples of every class; a class with 0 is shown as not tested. By default all are tested.

    Attributes
    ----------
    confusions, classes, sizes
        As given.
    norms : dict of str to float
        ‖C‖ of every model.
    missed : dict of str to ndarray of shape (n_classes,)
        Row sums of C, 1 − recall; NaN for a class without samples.
    ax_ : Axes or ndarray of Axes
        The axes; an array for several models.
    figure_ : Figure
        Their figure.

    Examples
    --------
    >>> from comboost import AdaBoostMMClassifier, CoMBoClassifier
    >>> from comboost.datasets import load_yeast
    >>> from comboost.displays import ConfusionNormDisplay
    >>> X, y = load_yeast(return_X_y=True)
    >>> models = {"CoMBo": CoMBoClassifier(n_estimators=50), "AdaBoost.MM": AdaBoostMMClassifier(n_estimators=50)}
    >>> fitted = {name: model.fit(X[::2], y[::2]) for name, model in models.items()}
    >>> display = ConfusionNormDisplay.from_estimator(fitted, X[1::2], y[1::2])
    >>> {name: round(norm, 2) for name, norm in display.norms.items()}
    {'CoMBo': 0.66, 'AdaBoost.MM': 0.89}
    >>> display.figure_.savefig("confusion.png")  # doctest: +SKIP
    """

    def __init__(
        self, confusions: Mapping[str, ArrayLike], classes: ArrayLike, *, sizes: ArrayLike | None = None
    ) -> None:
        self.classes: NDArray[Any] = np.asarray(classes)
        n_classes = len(self.classes)
        self.confusions = {name: np.asarray(given, dtype=np.float64) for name, given in confusions.items()}
        self.sizes: Floats = np.ones(n_classes) if sizes is None else np.asarray(sizes, dtype=np.float64)
        for name, confusion in self.confusions.items():
            if confusion.shape != (n_classes, n_classes):
                raise ValueError(
                    f"The matrix of {name} has shape {confusion.shape} for {n_classes} classes; give one row and one "
                    "column per class."
                )
        if not self.confusions or self.sizes.shape != (n_classes,):
            raise ValueError(
                f"There are {len(self.confusions)} matrices, {n_classes} classes and sizes of shape "
                f"{self.sizes.shape}; give one matrix at least, and one size per class."
            )
        self.norms = {name: float(np.linalg.norm(each, ord=2)) for name, each in self.confusions.items()}
        self.missed = {
            name: np.where(self.sizes > 0, each.sum(axis=1), np.nan) for name, each in self.confusions.items()
        }

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        cmap: Any = "magma_r",
        colorbar: bool = True,
    ) -> Self:
        """Plot the confusions of fitted classifiers on test samples.

        Parameters
        ----------
        estimator : fitted classifier, or dict of str to fitted classifier
            Any scikit-learn classifier, or several by their display names.
        X : array-like of shape (n_samples, n_features)
            Test samples.
        y : array-like of shape (n_samples,)
            True classes.
        labels : array-like of shape (n_classes,), default=None
            Classes in the order to show; by default those of the models and of y, sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.
        ax : Axes or sequence of Axes, default=None
            Axes to draw on, one for every model; by default a new figure. Use figures with ``layout="constrained"``.
        cmap : str or Colormap, default="magma_r"
            Colormap of the fractions.
        colorbar : bool, default=True
            Whether to draw a colorbar.

        Returns
        -------
        ConfusionNormDisplay
            The display.
        """
        import_pyplot(OTHERWISE)
        predictions, known = predict_all(estimator, X, y)
        outcomes = count_outcomes(y, predictions, labels, sample_weight, known)
        return cls._of(outcomes).plot(ax=ax, cmap=cmap, colorbar=colorbar)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: Any,
        *,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        cmap: Any = "magma_r",
        colorbar: bool = True,
    ) -> Self:
        """Plot the confusions of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,), or dict of str to array-like
            Predicted labels, or those of several models by their display names.
        labels, sample_weight, ax, cmap, colorbar
            As in `from_estimator`.

        Returns
        -------
        ConfusionNormDisplay
            The display.
        """
        import_pyplot(OTHERWISE)
        outcomes = count_outcomes(y_true, name_all(y_pred), labels, sample_weight)
        return cls._of(outcomes).plot(ax=ax, cmap=cmap, colorbar=colorbar)

    @classmethod
    def _of(cls, outcomes: Outcomes) -> Self:
        confusions = {name: confusion_of(counts) for name, counts in outcomes.counts.items()}
        return cls(confusions, outcomes.classes, sizes=outcomes.sizes)

    def plot(self, *, ax: Any = None, cmap: Any = "magma_r", colorbar: bool = True) -> Self:
        """Plot the matrices.

        Parameters
        ----------
        ax : Axes or sequence of Axes, default=None
            Axes to draw on, one for every model; by default a new figure.
        cmap : str or Colormap, default="magma_r"
            Colormap of the fractions.
        colorbar : bool, default=True
            Whether to draw a colorbar.

        Returns
        -------
        ConfusionNormDisplay
            The display.
        """
        n_models, side = len(self.confusions), INCHES_PER_CLASS * len(self.classes) + INCHES_AROUND
        side = float(np.clip(side, *PANEL_INCHES))
        panels = panels_for(ax, n_models, (n_models * side + 0.8 * colorbar, side), ncols=n_models)
        top = max(MIN_COLOUR_MAXIMUM, *(float(each.max()) for each in self.confusions.values()))
        images = [
            self._draw_matrix(panel, name, cmap, top) for panel, name in zip(panels, self.confusions, strict=True)
        ]
        self.ax_, self.figure_ = like_subplots(panels), panels[0].get_figure()
        if colorbar:
            bar = self.figure_.colorbar(images[0], ax=panels, shrink=0.8)
            bar.ax.tick_params(labelsize=LARGEST_FONT)
            text = "predicted as another class, % of the true class"
            bar.set_label(fold(text, 0.8 * size_of(panels[0])[1]), fontsize=LARGEST_FONT)
        for panel, name in zip(panels, self.confusions, strict=True):
            self._label_axes(panel)
            self._set_title(panel, name)
        run_layout(panels[0])
        for panel, name, image in zip(panels, self.confusions, images, strict=True):
            self._label_axes(panel)
            self._write_fractions(panel, name, image)
        return self

    def _set_title(self, panel: Any, name: str) -> None:
        norm = f"norm of the confusion matrix ‖C‖{NBSP}={NBSP}{self.norms[name]:.3f}"
        title = norm if name == UNNAMED else f"{shorten(readable(name), MAX_TITLE)}\n{norm}"
        panel.set_title(fold(title, size_of(panel)[0]), fontsize=LARGEST_FONT + 1, parse_math=False)

    def _pitch(self, panel: Any) -> float:
        """Distance of two classes in points; there is one column more than classes."""
        width, height = size_of(panel)
        return min(width / (len(self.classes) + 1.4), height / len(self.classes))

    def _draw_matrix(self, panel: Any, name: str, cmap: Any, top: float) -> Any:
        """Draw the fractions as cells, with space for the row sums."""
        confusion, n_classes = self.confusions[name], len(self.classes)
        hidden = np.ma.masked_array(100 * confusion, mask=np.eye(n_classes, dtype=bool))
        image = panel.imshow(hidden, cmap=cmap, vmin=0, vmax=100 * top, interpolation="nearest", aspect="equal")
        panel.set_facecolor(DIAGONAL)
        panel.axvspan(n_classes - 0.5, n_classes + 0.9, color="white", linewidth=0)
        panel.set_xlim(-0.5, n_classes + 0.9)
        panel.set_ylim(n_classes - 0.5, -0.5)
        panel.set_xlabel("predicted class", fontsize=LARGEST_FONT)
        panel.set_ylabel("true class", fontsize=LARGEST_FONT)
        return image

    def _write_fractions(self, panel: Any, name: str, image: Any) -> None:
        """Write percentages into the cells and the row sums beside them, if they are readable."""
        confusion, pitch = self.confusions[name], self._pitch(panel)
        size = font_for(pitch, pitch, CELL_CHARACTERS)
        if not size:
            return
        style = {"ha": "center", "va": "center", "fontsize": size, "parse_math": False}
        for row, column in zip(*np.nonzero(confusion), strict=True):
            fraction = float(confusion[row, column])
            ink = ink_on(image.cmap(image.norm(100 * fraction)))
            panel.text(column, row, percent(fraction), color=ink, **style)
        for row, missed in enumerate(self.missed[name].tolist()):
            text = NO_SAMPLES if np.isnan(missed) else percent(missed) or "0"
            panel.text(len(self.classes) + 0.2, row, text, color="black", fontweight="bold", **style)

    def _label_axes(self, panel: Any) -> None:
        """Label the classes without overlaps: smaller, upright, or only some of them."""
        n_classes, pitch = len(self.classes), self._pitch(panel)
        step = every_nth(pitch)
        size = font_for(np.inf, pitch * step, 1)
        names = short_names(self.classes, min(MAX_NAME, characters_in(LABEL_FRACTION * n_classes * pitch, size)))
        upright = 90 if max(len(name) for name in names) * WIDE_CHARACTER * size > pitch else 0
        shown = list(range(0, n_classes, step))
        texts = [names[k] for k in shown]
        panel.set_xticks([*shown, n_classes + 0.2], [*texts, "missed"], rotation=upright, parse_math=False)
        panel.get_xticklabels()[-1].set_rotation(upright or 90 * (len("missed") * WIDE_CHARACTER * size > pitch))
        panel.set_yticks(shown, texts, parse_math=False)
        panel.tick_params(labelsize=size, length=0)
