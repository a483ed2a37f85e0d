"""Training curves: loss, certified bound and norm of the confusion matrix after every round; the search before."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from comboost._estimators.certificates import loss_name
from comboost._extras import import_pyplot
from comboost._types import Floats
from comboost.displays._layout import (
    LARGEST_FONT,
    LOG_FROM,
    MARGIN,
    OTHERWISE,
    below,
    draw_curve,
    finish_rounds,
    fold,
    legend_below,
    like_subplots,
    panels_for,
    set_log_scale,
    set_title,
    size_of,
    summarise,
)
from comboost.displays._predictions import check_none_rejected
from comboost.metrics._measures import NORM_SQUARES, norm_of
from comboost.metrics._outcomes import SampleOutcomes, class_indices, label_array, resolve_classes, weight_array

WIDTH, PANEL_HEIGHT, SEARCH_HEIGHT = 6.6, 3.1, 4.4  # inches
HEADROOM = 1.05  # above the norms
KINDS = ("training", "search")
CANDIDATE_STYLES: dict[str, dict[str, Any]] = {  # by outcome
    "selected": {"color": "black", "linewidth": 1.8, "markersize": 5, "zorder": 3},
    "completed": {"color": "#9a9a9a", "linewidth": 1.0, "markersize": 3},
    "stopped": {"color": "#9a9a9a", "linewidth": 1.0, "markersize": 3, "linestyle": (0, (3, 2))},
}


class TrainingCurveDisplay:
    """Loss, certified bound and norm of the confusion matrix after every boosting round.

    With ``kind="search"`` it shows the held-out loss of every candidate of the search for settings instead.

    Create it with `from_estimator`. There is no ``from_predictions``, since predictions belong to the last round. Pass
    other curves to the constructor.

    Parameters
    ----------
    loss : array-like of shape (n_rounds,)
        Loss after every round.
    bound : array-like of shape (n_rounds,)
        Certified upper bound on the loss.
    train_norm, validation_norm : array-like of shape (n_rounds,), default=None
        ‖C‖ after every round on training and on validation samples.
    search_results : list of dict, default=None
        The candidates of a search, as in ``ConfusionBoostingClassifier.search_results_``.
    name : str, default=None
        Name of the model in the title.
    loss_name : str, default="loss"
        Name of the loss in title and legend.

    Attributes
    ----------
    loss, bound, train_norm, validation_norm, search_results, name, loss_name
        As given.
    rounds : ndarray of shape (n_rounds,)
        1, 2, and so on.
    ax_ : Axes or ndarray of two Axes
        The axes; the second one shows the norms, if there are any and ``kind="training"``.
    figure_ : Figure
        Their figure.

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

    The search of a default fit:

    >>> from comboost import ConfusionBoostingClassifier
    >>> model = ConfusionBoostingClassifier().fit(X[::2], y[::2])
    >>> display = TrainingCurveDisplay.from_estimator(model, kind="search")
    >>> len(display.search_results) == len(display.ax_.lines)
    True
    """

    def __init__(
        self,
        loss: ArrayLike,
        bound: ArrayLike,
        *,
        train_norm: ArrayLike | None = None,
        validation_norm: ArrayLike | None = None,
        search_results: Sequence[Mapping[str, Any]] | None = None,
        name: str | None = None,
        loss_name: str = "loss",
    ) -> None:
        self.loss: Floats = np.asarray(loss, dtype=np.float64)
        self.bound: Floats = np.asarray(bound, dtype=np.float64)
        self.train_norm: Floats | None = None if train_norm is None else np.asarray(train_norm, dtype=np.float64)
        self.validation_norm: Floats | None = (
            None if validation_norm is None else np.asarray(validation_norm, dtype=np.float64)
        )
        self.search_results = search_results
        self.name = name
        self.loss_name = loss_name
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
        kind: str = "training",
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the training curves of a booster, or the search for its settings.

        Parameters
        ----------
        estimator : fitted booster of comboost
            A model with ``loss_curve_`` and ``bound_curve_``.
        X, y : array-like of shape (n_samples, n_features) and (n_samples,), default=None
            Training samples, to compute ‖C‖ after every round with ``staged_predict``.
        X_val, y_val : array-like of shape (n_samples, n_features) and (n_samples,), default=None
            Validation samples, for the same.
        sample_weight, sample_weight_val : array-like of shape (n_samples,), default=None
            Sample weights.
        kind : {"training", "search"}, default="training"
            What to plot: loss, bound and norms after every round, or the held-out loss of every candidate of the
            search for settings, which only `comboost.ConfusionBoostingClassifier` has.
        name : str, default=None
            Name of the model in the title; by default its class.
        ax : Axes or sequence of two Axes, default=None
            Axes to draw on: one for the loss and, if samples are given, one for the norms; one for the search. By
            default a new figure. Use figures with ``layout="constrained"``.

        Returns
        -------
        TrainingCurveDisplay
            The display.
        """
        import_pyplot(OTHERWISE)
        check_curves(estimator)
        norms = {
            "train_norm": staged_norms(estimator, X, y, sample_weight, ""),
            "validation_norm": staged_norms(estimator, X_val, y_val, sample_weight_val, "_val"),
        }
        display = cls(
            estimator.loss_curve_,
            estimator.bound_curve_,
            **norms,
            search_results=getattr(estimator, "search_results_", None),
            name=type(estimator).__name__ if name is None else name,
            loss_name=loss_name(estimator),
        )
        return display.plot(kind=kind, ax=ax)

    def plot(self, *, kind: str = "training", ax: Any = None) -> Self:
        """Plot the curves.

        Parameters
        ----------
        kind : {"training", "search"}, default="training"
            What to plot: loss, bound and norms after every round, or the held-out loss of every candidate of the
            search for settings.
        ax : Axes or sequence of two Axes, default=None
            Axes to draw on: one for the loss and, if there are norms, one for these; one for the search. By default a
            new figure.

        Returns
        -------
        TrainingCurveDisplay
            The display.
        """
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r}; give {' or '.join(map(repr, KINDS))}.")
        is_search = kind == "search"
        candidates = self._candidates() if is_search else []
        norms = {} if is_search else self._norms()
        n_panels = 1 + bool(norms)
        height = SEARCH_HEIGHT if is_search else n_panels * PANEL_HEIGHT
        panels = panels_for(ax, n_panels, (WIDTH, height), nrows=n_panels, sharex=True)
        panels[-1].set_xlabel("round", fontsize=LARGEST_FONT)
        if is_search:
            panels[0].set_xlabel("round with learning rate 1 (dots: lowest loss)", fontsize=LARGEST_FONT)
            self._draw_search(panels[0], candidates)
        else:
            self._draw_losses(panels[0], gap=MARGIN if ax is None and norms else below(panels[0]))
        if norms:
            self._draw_norms(panels[1], norms)
        for panel in panels:
            finish_rounds(panel)
        self.ax_, self.figure_ = like_subplots(panels), panels[0].get_figure()
        return self

    def _norms(self) -> dict[str, Floats]:
        """The known norm curves by the samples that they belong to."""
        given = {"training samples": self.train_norm, "validation samples": self.validation_norm}
        return {samples: curve for samples, curve in given.items() if curve is not None}

    def _candidates(self) -> list[Mapping[str, Any]]:
        """The candidates of the search; ValueError if there was none."""
        candidates = [record for record in self.search_results or () if "losses" in record]
        if not candidates:
            reason = "".join(f" ({record['outcome']})" for record in self.search_results or ())
            raise ValueError(
                f"{self.name or 'The model'} has no search to plot{reason}; fit ConfusionBoostingClassifier with "
                'smoothing="auto" or max_depth="auto" on at least 30 samples, or give kind="training".'
            )
        return candidates

    def _draw_search(self, panel: Any, candidates: list[Mapping[str, Any]]) -> None:
        artists, names = [], []
        for outcome, style in CANDIDATE_STYLES.items():
            chosen = [each for each in candidates if each["outcome"] == outcome]
            for each in chosen:
                rounds, best = np.arange(1, len(each["losses"]) + 1), each["best_round"] - 1
                (line,) = panel.plot(rounds, each["losses"], marker="o", markevery=[best], **style)
            if chosen:
                artists.append(line)
                names.append(f"{outcome}: {describe(each) if outcome == 'selected' else len(chosen)}")
        losses = [loss for each in candidates for loss in each["losses"]]
        if min(losses) > 0 and max(losses) > LOG_FROM * min(losses):
            set_log_scale(panel)
        legend_below(panel, artists, names, below(panel))
        panel.set_ylabel("held-out loss", fontsize=LARGEST_FONT)
        set_title(panel, self.name, f"loss of {len(candidates)} candidates on held-out samples")

    def _draw_losses(self, panel: Any, gap: float) -> None:
        marker = "o" if len(self.rounds) == 1 else None  # a line needs two points
        wide = {"color": "#999999", "linewidth": 3.5, "linestyle": (0, (3, 1)), "marker": marker}
        (bound,) = panel.plot(self.rounds, self.bound, **wide)
        (loss,) = panel.plot(self.rounds, self.loss, color="black", linewidth=1.3, marker=marker)
        together = np.concatenate([self.loss, self.bound])
        if together.min() > 0 and together.max() > LOG_FROM * together.min():
            set_log_scale(panel)
        names = [
            f"certified bound on the {self.loss_name}: {self.bound[-1]:.3g} at the end",
            f"{self.loss_name}: {self.loss[-1]:.3g} at the end",
        ]
        legend_below(panel, [bound, loss], names, gap)
        panel.set_ylabel("loss", fontsize=LARGEST_FONT)
        set_title(panel, self.name, f"training {self.loss_name} and its certified bound")

    def _draw_norms(self, panel: Any, norms: dict[str, Floats]) -> None:
        artists, names = [], []
        for number, (samples, norm) in enumerate(norms.items()):
            artists.append(draw_curve(panel, norm, number))
            names.append(f"{samples}: {summarise(norm)}")
        panel.set_ylim(0, HEADROOM * max(float(norm.max()) for norm in norms.values()) or 1.0)
        legend_below(panel, artists, names, gap=below(panel))
        panel.set_ylabel(
            fold("norm of the confusion matrix\N{NO-BREAK SPACE}‖C‖", size_of(panel)[1]), fontsize=LARGEST_FONT
        )
        panel.set_title("Norm of the confusion matrix (0: no errors)", fontsize=LARGEST_FONT + 1)


def describe(candidate: Mapping[str, Any]) -> str:
    """The settings of a candidate, and its result."""
    depth = "not limited" if candidate["max_depth"] is None else candidate["max_depth"]
    return (
        f"smoothing {candidate['smoothing']:g}, depth {depth}, loss {candidate['loss']:.3g} after round "
        f"{candidate['best_round']}"
    )


def check_curves(estimator: Any) -> None:
    """Raise if it is not a fitted booster."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(
            f"estimator is {estimator!r}; give a fitted booster of comboost, such as CoMBoClassifier().fit(X, y)."
        )
    check_is_fitted(estimator)
    absent = [name for name in ("loss_curve_", "bound_curve_") if not hasattr(estimator, name)]
    if absent:
        raise ValueError(
            f"{type(estimator).__name__} has no {' and no '.join(absent)}; give a booster of comboost. For a pipeline "
            "give its last step and the transformed samples, for a search its best_estimator_."
        )


def staged_norms(estimator: Any, X: Any, y: Any, sample_weight: Any, suffix: str) -> Floats | None:
    """‖C‖ after every round; None without samples."""
    if (X is None) != (y is None):
        given, lacking = ("y", "X") if X is None else ("X", "y")
        raise ValueError(f"{given}{suffix} is given without {lacking}{suffix}; give both, or neither.")
    if X is None:
        if sample_weight is not None:
            raise ValueError(f"sample_weight{suffix} is given without X{suffix}; give both, or neither.")
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
        outcomes = SampleOutcomes(classes, true_idx, class_indices(predicted, classes, "predictions"), weight)
        norms.append(norm_of(outcomes.counts(NORM_SQUARES)))
    return np.array(norms)
