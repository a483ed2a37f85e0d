"""What training did, round by round, as a picture. In: a fitted booster, and rows. Out: loss, bound and norm curves."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from comboost._extras import import_pyplot
from comboost._types import Floats
from comboost.displays._labels import LARGEST_FONT, MAX_TITLE, fold, readable, round_numbers, shorten
from comboost.displays._outcomes_of_models import check_none_rejected
from comboost.displays._panels import OTHERWISE, height_of, legend_below, like_subplots, panels_for, room_of, style_of
from comboost.metrics._measures import NORM_SQUARES, norm_of
from comboost.metrics._outcomes import RowOutcomes, class_indices, label_array, resolve_classes, weight_array

WIDTH, PANEL_HEIGHT = 6.6, 3.1  # inches
LOG_FROM = 20.0  # greatest to smallest value, above which an axis is logarithmic
HEADROOM = 1.05  # above the norms
AIR, TICKS = 6.0, 16.0  # points above a legend, and that the numbers of an axis take
N_MARKERS = 12


class TrainingCurveDisplay:
    """What training did: the loss and its certified bound after every round, and the norm of the confusion matrix.

    Make it with `from_estimator`. There is no ``from_predictions``: predictions are of the end of training, curves are
    of its rounds. Curves that you have from elsewhere are given to the constructor.

    Parameters
    ----------
    loss : array-like of shape (n_rounds,)
        The loss after every round.
    bound : array-like of shape (n_rounds,)
        What the rounds certify: the loss is at most this.
    train_norm, validation_norm : array-like of shape (n_rounds,), default=None
        ‖C‖ after every round on rows that were trained on, and on others.
    name : str, default=None
        The model, for the title.

    Attributes
    ----------
    loss, bound, train_norm, validation_norm, name
        As given.
    rounds : ndarray of shape (n_rounds,)
        1, 2, and so on.
    ax_ : Axes or ndarray of two Axes
        What was drawn on; the second one, if there are norms, has these.
    figure_ : Figure
        The figure of these.

    Examples
    --------
    >>> from comboost import CoMBoClassifier
    >>> from comboost.datasets import load_yeast
    >>> from comboost.displays import TrainingCurveDisplay
    >>> X, y = load_yeast(return_X_y=True)
    >>> model = CoMBoClassifier(n_estimators=50).fit(X[::2], y[::2])
    >>> display = TrainingCurveDisplay.from_estimator(model, X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    >>> bool((display.train_norm**2 <= display.loss).all())
    True
    >>> display.validation_norm.shape
    (50,)
    """

    def __init__(
        self,
        loss: ArrayLike,
        bound: ArrayLike,
        *,
        train_norm: ArrayLike | None = None,
        validation_norm: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        self.loss: Floats = np.asarray(loss, dtype=np.float64)
        self.bound: Floats = np.asarray(bound, dtype=np.float64)
        self.train_norm: Floats | None = None if train_norm is None else np.asarray(train_norm, dtype=np.float64)
        self.validation_norm: Floats | None = (
            None if validation_norm is None else np.asarray(validation_norm, dtype=np.float64)
        )
        self.name = name
        curves = {"loss": self.loss, "bound": self.bound, **self._norms()}
        shapes = {title: curve.shape for title, curve in curves.items()}
        if len(set(shapes.values())) > 1 or self.loss.ndim != 1 or self.loss.size == 0:
            raise ValueError(
                f"The curves have shapes {shapes}; give one number per round to each, of one round at least."
            )
        self.rounds: NDArray[np.intp] = np.arange(1, self.loss.size + 1)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what training did.

        Parameters
        ----------
        estimator : fitted booster of comboost
            The model: it keeps ``loss_curve_`` and ``bound_curve_``.
        X, y : array-like of shape (n_samples, n_features) and (n_samples,), default=None
            The rows trained on, to compute ‖C‖ after every round with ``staged_predict``; without them there is none.
        X_val, y_val : array-like of shape (n_samples, n_features) and (n_samples,), default=None
            Rows that were not trained on, for the same.
        sample_weight, sample_weight_val : array-like of shape (n_samples,), default=None
            Weights of both.
        name : str, default=None
            The model, for the title; by default its class.
        ax : Axes or sequence of two Axes, default=None
            What to draw on: one for the loss and, if rows are given, one for the norms. By default a new figure.
            Text has room in figures with ``layout="constrained"``.

        Returns
        -------
        TrainingCurveDisplay
            The display, which holds what was drawn.
        """
        import_pyplot(OTHERWISE)
        check_curves(estimator)
        norms = {
            "train_norm": staged_norms(estimator, X, y, sample_weight, ""),
            "validation_norm": staged_norms(estimator, X_val, y_val, sample_weight_val, "_val"),
        }
        title = type(estimator).__name__ if name is None else name
        return cls(estimator.loss_curve_, estimator.bound_curve_, name=title, **norms).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes or sequence of two Axes, default=None
            What to draw on: one for the loss and, if there are norms, one for these. By default a new figure.

        Returns
        -------
        TrainingCurveDisplay
            The display itself.
        """
        norms = self._norms()
        n_panels = 1 + bool(norms)
        panels = panels_for(ax, n_panels, (WIDTH, n_panels * PANEL_HEIGHT), nrows=n_panels, sharex=True)
        panels[-1].set_xlabel("round", fontsize=LARGEST_FONT)
        self._draw_losses(panels[0], gap=AIR if ax is None and norms else below(panels[0]))
        if norms:
            self._draw_norms(panels[1], norms)
        for panel in panels:
            panel.grid(visible=True, linewidth=0.3)
            panel.tick_params(labelsize=LARGEST_FONT)
            panel.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        self.ax_, self.figure_ = like_subplots(panels), panels[0].get_figure()
        return self

    def _norms(self) -> dict[str, Floats]:
        """The norm curves that there are, by the rows that they are of."""
        given = {"rows trained on": self.train_norm, "validation rows": self.validation_norm}
        return {rows: curve for rows, curve in given.items() if curve is not None}

    def _draw_losses(self, panel: Any, gap: float) -> None:
        marker = "o" if len(self.rounds) == 1 else None  # one point makes no line
        wide = {"color": "#999999", "linewidth": 3.5, "linestyle": (0, (3, 1)), "marker": marker}
        (bound,) = panel.plot(self.rounds, self.bound, **wide)
        (loss,) = panel.plot(self.rounds, self.loss, color="black", linewidth=1.3, marker=marker)
        together = np.concatenate([self.loss, self.bound])
        if together.min() > 0 and together.max() > LOG_FROM * together.min():
            set_log_scale(panel)
        names = [
            f"certified bound on the loss: {self.bound[-1]:.3g} at the end",
            f"loss: {self.loss[-1]:.3g} at the end",
        ]
        legend_below(panel, [bound, loss], names, gap)
        panel.set_ylabel("loss", fontsize=LARGEST_FONT)
        whose = "" if self.name is None else f"{shorten(readable(self.name), MAX_TITLE)}: "
        title = fold(f"{whose}what training makes small", room_of(panel)[0])
        panel.set_title(title, fontsize=LARGEST_FONT + 1, parse_math=False)

    def _draw_norms(self, panel: Any, norms: dict[str, Floats]) -> None:
        artists, names = [], []
        for place, (rows, norm) in enumerate(norms.items()):
            style = {"linewidth": 1.2, "markersize": 4, "markevery": max(1, len(norm) // N_MARKERS)}
            artists += panel.plot(self.rounds, norm, **style, **style_of(place))
            best = int(norm.argmin())
            names.append(f"{rows}: {norm[-1]:.3f} at the end, at best {norm[best]:.3f} (round {best + 1})")
        panel.set_ylim(0, HEADROOM * max(float(norm.max()) for norm in norms.values()) or 1.0)
        legend_below(panel, artists, names, gap=below(panel))
        panel.set_ylabel(
            fold("norm of the confusion matrix\N{NO-BREAK SPACE}‖C‖", room_of(panel)[1]), fontsize=LARGEST_FONT
        )
        panel.set_title("What comes of it (0: no mistakes)", fontsize=LARGEST_FONT + 1)


def below(panel: Any) -> float:
    """Points from axes to their legend, below the numbers of rounds and what says so, if they are there."""
    return AIR + TICKS + (height_of(panel.get_xlabel()) if panel.get_xlabel() else 0)


def set_log_scale(panel: Any) -> None:
    """Make the axis of losses logarithmic, with plain numbers."""
    panel.set_yscale("log")
    ticks = round_numbers(*panel.get_ylim())
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_yticks([], minor=True)


def check_curves(estimator: Any) -> None:
    """Raise if it is no booster that was fitted."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(
            f"estimator is {estimator!r}; give a fitted booster of comboost, such as CoMBoClassifier().fit(X, y)."
        )
    check_is_fitted(estimator)
    absent = [name for name in ("loss_curve_", "bound_curve_") if not hasattr(estimator, name)]
    if absent:
        raise ValueError(
            f"{type(estimator).__name__} has no {' and no '.join(absent)}; give a booster of comboost. Of a pipeline "
            "give its last step, with rows as that sees them, and of a search its best_estimator_."
        )


def staged_norms(estimator: Any, X: Any, y: Any, sample_weight: Any, suffix: str) -> Floats | None:
    """‖C‖ of rows after every round, None if there are no rows."""
    if (X is None) != (y is None):
        given, lacking = ("y", "X") if X is None else ("X", "y")
        raise ValueError(f"{given}{suffix} is given without {lacking}{suffix}; give both, or neither.")
    if X is None:
        if sample_weight is not None:
            raise ValueError(f"sample_weight{suffix} is given without X{suffix}; give the rows, or leave it out.")
        return None
    true = label_array(y, f"y{suffix}")
    classes = resolve_classes(None, **{f"y{suffix}": true, "classes_": estimator.classes_})
    true_idx, weight = class_indices(true, classes, f"y{suffix}"), weight_array(sample_weight, true.size)
    norms = []
    for predicted in estimator.staged_predict(X):
        if len(predicted) != true.size:
            raise ValueError(
                f"X{suffix} has {len(predicted)} rows and y{suffix} {true.size}; give one class for every row."
            )
        check_none_rejected(label_array(predicted, "predictions"), estimator.classes_, type(estimator).__name__)
        outcomes = RowOutcomes(classes, true_idx, class_indices(predicted, classes, "predictions"), weight)
        norms.append(norm_of(outcomes.counts(NORM_SQUARES)))
    return np.array(norms)
