"""Pictures: the data behind them, the text on them, and what is refused. Nobody compares pixels."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._stats.formatting import percent, readable, short_names
from comboost.datasets import load_new_thyroid, load_yeast
from comboost.displays import ConfusionNormDisplay, PerClassRecallDisplay, SoftConfusionDisplay, TrainingCurveDisplay
from comboost.displays._layout import fold, luminance, round_numbers
from comboost.displays._per_class_recall import move_apart, size_limits
from comboost.metrics import confusion_norm_loss, error_confusion_matrix, soft_confusion_matrix
from comboost.model_selection import wilson_interval

N_ROUNDS = 12
OF_ROWS = [ConfusionNormDisplay, PerClassRecallDisplay]
FEW = settings(max_examples=15)


@pytest.fixture(autouse=True)
def canvas():
    """No window, and no figure left open."""
    before = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


@pytest.fixture(scope="module")
def yeast():
    X, y = load_yeast(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def models(yeast):
    X, y, _, _ = yeast
    kinds = {"ours": ConfusionBoostingClassifier, "CoMBo": CoMBoClassifier, "rows": AdaBoostMMClassifier}
    return {name: kind(n_estimators=N_ROUNDS).fit(X, y) for name, kind in kinds.items()}


@pytest.fixture
def undrawn(monkeypatch):
    """Displays that hold their data and draw nothing, which would take longer than all else."""
    for kind in (*OF_ROWS, SoftConfusionDisplay, TrainingCurveDisplay):
        monkeypatch.setattr(kind, "plot", lambda display, **_: display)


def letters(n_classes, n_samples=6):
    """Many classes with long names of which only the end differs, and predictions that are wrong now and then."""
    names = np.array([f"a class with quite a long name, {k}" for k in range(n_classes)])
    y = np.repeat(names, n_samples + np.arange(n_classes))
    return y, np.where(np.arange(len(y)) % 3 == 0, names[0], y)


def texts_of(panel):
    return [text.get_text() for text in panel.texts]


def labels_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def shown_labels(axis):
    """What stands at the ticks that are in view."""
    low, high = sorted(axis.get_view_interval())
    return [
        tick.label1 if tick.label1.get_visible() else tick.label2
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high
    ]


def boxes_of(texts):
    return [text.get_window_extent() for text in texts if text.get_text()]


def overlap(boxes):
    return [(a, b) for a, b in itertools.pairwise(boxes) if a.overlaps(b)]


# The data behind the pictures.


@pytest.mark.usefixtures("undrawn")
def test_matrices_norms_and_row_sums_are_those_of_the_metrics(yeast, models):
    _, _, X, y = yeast
    display = ConfusionNormDisplay.from_estimator(models, X, y)
    assert list(display.confusions) == list(models)
    for name, model in models.items():
        predicted = model.predict(X)
        confusion = error_confusion_matrix(y, predicted, labels=model.classes_)
        np.testing.assert_array_equal(display.confusions[name], confusion)
        assert display.norms[name] == pytest.approx(confusion_norm_loss(y, predicted))
        for k, label in enumerate(display.classes):
            assert display.missed[name][k] == pytest.approx(np.mean(predicted[y == label] != label))


@pytest.mark.usefixtures("undrawn")
def test_sample_weights_count_in_matrices():
    display = ConfusionNormDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"], sample_weight=[3, 1, 1])
    assert display.confusions["predictions"].tolist() == [[0, 0.25], [0, 0]]
    assert display.sizes.tolist() == [2, 1]


@pytest.mark.usefixtures("undrawn")
def test_recalls_and_intervals_are_those_of_the_counts(yeast, models):
    _, _, X, y = yeast
    display = PerClassRecallDisplay.from_estimator(models, X, y, confidence=0.8)
    assert display.sizes.tolist() == [np.sum(y == label) for label in display.classes]
    for name, model in models.items():
        hits = model.predict(X) == y
        expected = [np.mean(hits[y == label]) for label in display.classes]
        assert display.recalls[name].tolist() == pytest.approx(expected)
        limits = wilson_interval(expected, display.sizes, confidence=0.8)
        np.testing.assert_allclose(display.intervals[name], limits)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("kind", OF_ROWS)
def test_models_and_their_predictions_make_the_same_display(kind, yeast, models):
    _, _, X, y = yeast
    one = kind.from_estimator(models, X, y)
    other = kind.from_predictions(y, {name: model.predict(X) for name, model in models.items()})
    for attribute in ("confusions", "recalls"):
        if hasattr(one, attribute):
            np.testing.assert_equal(getattr(one, attribute), getattr(other, attribute))


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", ["ours", "CoMBo", "rows"])
def test_curves_are_those_of_the_model_and_norms_those_of_its_stages(name, yeast, models):
    X, y, X_val, y_val = yeast
    model = models[name]
    display = TrainingCurveDisplay.from_estimator(model, X, y, X_val=X_val, y_val=y_val)
    np.testing.assert_array_equal(display.loss, model.loss_curve_)
    np.testing.assert_array_equal(display.bound, model.bound_curve_)
    assert display.rounds.tolist() == list(range(1, N_ROUNDS + 1))
    assert display.train_norm[-1] == pytest.approx(np.linalg.norm(model.train_confusion_, ord=2))
    staged = [confusion_norm_loss(y_val, predicted) for predicted in model.staged_predict(X_val)]
    assert display.validation_norm.tolist() == pytest.approx(staged)


@pytest.mark.usefixtures("undrawn")
def test_sample_weights_count_in_curves():
    X, y = load_new_thyroid(return_X_y=True)
    weight = 1.0 + np.arange(len(y)) % 3
    model = CoMBoClassifier(n_estimators=3, max_depth=1).fit(X, y, weight)
    display = TrainingCurveDisplay.from_estimator(model, X, y, sample_weight=weight)
    assert display.train_norm[-1] == pytest.approx(np.linalg.norm(model.train_confusion_, ord=2))
    assert display.validation_norm is None


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("two_classes", [False, True])
def test_soft_confusions_are_those_of_the_stages(loss, two_classes, yeast, models):
    X, y, X_val, y_val = yeast
    model = models["ours"]
    if two_classes:
        y, y_val = y == "CYT", y_val == "CYT"
        model = CoMBoClassifier(n_estimators=4).fit(X, y)
    weight = 1.0 + np.arange(len(y_val)) % 3
    display = SoftConfusionDisplay.from_estimator(model, X_val, y_val, loss=loss, sample_weight=weight)
    options = {"labels": model.classes_, "sample_weight": weight}
    staged = [
        soft_confusion_matrix(y_val, scores, loss=loss, **options) for scores in model.staged_decision_function(X_val)
    ]
    np.testing.assert_array_equal(display.matrices, staged)
    np.testing.assert_allclose(display.norm, np.linalg.norm(staged, 2, axis=(1, 2)))
    norms = [confusion_norm_loss(y_val, each, **options) for each in model.staged_predict(X_val)]
    np.testing.assert_allclose(display.error_norm, norms)
    assert (display.norm >= display.error_norm).all()


def test_largest_pairs_are_those_of_the_last_round():
    matrices = [[[0, 9, 1], [1, 0, 2], [0, 0, 0]], [[0, 3, 1], [5, 0, 4], [0, 0, 0]]]
    display = SoftConfusionDisplay(matrices, ["a", "b", "c"]).plot(n_pairs=2)
    assert display.largest_pairs(3) == [("b", "a"), ("b", "c"), ("a", "b")]
    assert len(display.largest_pairs()) == 4  # c has no samples
    texts = [[text.get_text() for text in panel.get_legend().get_texts()] for panel in display.ax_]
    assert texts[0] == [
        f"soft confusion matrix: {display.norm[1]:.3f} at the end, at best {display.norm[1]:.3f} (round 2)"
    ]
    assert texts[1] == ["b as a: 5.000", "b as c: 4.000", "the other 2 pairs"]
    assert [line.get_ydata().tolist() for line in display.ax_[1].lines] == [[1, 5], [2, 4]]


@pytest.mark.parametrize(("n_classes", "given_axes"), [(2, False), (3, True), (10, False), (26, False), (26, True)])
def test_texts_of_soft_confusions_do_not_overlap_and_stay_inside(n_classes, given_axes):
    classes, random = np.unique(letters(n_classes)[0]), np.random.RandomState(0)
    matrices = random.rand(20, n_classes, n_classes) * np.linspace(30, 0.3, 20)[:, np.newaxis, np.newaxis]
    matrices[:, np.arange(n_classes), np.arange(n_classes)] = 0.0
    axes = plt.subplots(2, figsize=(8, 9), layout="constrained")[1] if given_axes else None
    display = SoftConfusionDisplay(matrices, classes, error_norm=np.linspace(1, 0, 20), name="model").plot(ax=axes)
    display.figure_.draw_without_rendering()
    texts = [
        each
        for panel in display.ax_
        for each in (panel.title, panel.xaxis.label, *panel.get_legend().get_texts(), panel.yaxis.label)
    ]
    boxes = boxes_of(texts)
    assert [(a, b) for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)] == []
    whole = display.figure_.bbox
    for box in boxes:
        assert whole.x0 <= box.x0 + 1
        assert whole.y0 <= box.y0 + 1
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1


def test_soft_confusions_of_wrong_input_are_refused_with_advice(yeast, models):
    X, y, _, _ = yeast
    show = SoftConfusionDisplay.from_estimator
    with pytest.raises(NotFittedError):
        show(CoMBoClassifier(), X, y)
    with pytest.raises(TypeError, match="no staged_decision_function; give a fitted booster"):
        show(DecisionTreeClassifier().fit(X, y), X, y)
    with pytest.raises(ValueError, match="X has 742 rows and y 741"):
        show(models["ours"], X, y[1:])
    with pytest.raises(ValueError, match=r"y holds \['XYZ'\], but the classes of the model are .* leave out"):
        show(models["ours"], X, np.where(y == "CYT", "XYZ", y))
    with pytest.raises(ValueError, match="loss='log' is a loss of classes"):
        show(models["ours"], X, y, loss="log")
    with pytest.raises(ValueError, match="n_pairs=8; give a whole number from 1 to 7"):
        show(models["ours"], X, y, n_pairs=8)
    with pytest.raises(ValueError, match="has 2 panels and ax has 1"):
        show(models["ours"], X, y, ax=plt.subplots()[1])
    with pytest.raises(ValueError, match=r"shape \(3, 2, 2\) for 3 classes; give one matrix per round"):
        SoftConfusionDisplay(np.zeros((3, 2, 2)), ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"error_norm has shape \(2,\) for 3 rounds"):
        SoftConfusionDisplay(np.zeros((3, 2, 2)), ["a", "b"], error_norm=[1, 2])
    for entry in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="negative or not finite; give mean losses"):
            SoftConfusionDisplay(np.full((3, 2, 2), entry), ["a", "b"])


def test_display_without_any_loss_names_no_pairs():
    display = SoftConfusionDisplay(np.zeros((3, 2, 2)), ["a", "b"]).plot()
    assert display.largest_pairs() == []
    assert display.norm.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.usefixtures("undrawn")
def test_class_unknown_to_the_model_counts_as_missed(yeast):
    X, y, X_val, y_val = yeast
    known = y != "ERL"
    model = CoMBoClassifier(n_estimators=2).fit(X[known], y[known])
    display = PerClassRecallDisplay.from_estimator(model, X_val, y_val)
    assert display.recalls["CoMBoClassifier"][list(display.classes).index("ERL")] == 0
    confusion = ConfusionNormDisplay.from_estimator(model, X_val, y_val)
    assert confusion.missed["CoMBoClassifier"][list(confusion.classes).index("ERL")] == pytest.approx(1)
    norms = TrainingCurveDisplay.from_estimator(model, X_val=X_val, y_val=y_val).validation_norm
    assert norms[-1] == pytest.approx(confusion.norms["CoMBoClassifier"])


def test_class_without_samples_has_no_recall():
    y, labels = ["a", "a", "b"], ["a", "b", "c"]
    display = PerClassRecallDisplay.from_predictions(y, ["a", "b", "b"], labels=labels)
    assert np.isnan(display.recalls["predictions"][2])
    assert [low_or_high[2] for low_or_high in display.intervals["predictions"]] == [0, 1]
    confusion = ConfusionNormDisplay.from_predictions(y, ["a", "b", "b"], labels=labels)
    assert np.isnan(confusion.missed["predictions"][2])
    assert texts_of(confusion.ax_) == ["50", "50", "0", "–"]


# The form of scikit-learn.


@pytest.mark.parametrize("kind", OF_ROWS)
def test_axes_that_are_given_are_drawn_on(kind, yeast, models):
    _, _, X, y = yeast
    figure, ax = plt.subplots()
    display = kind.from_estimator(models["ours"], X, y, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.plot() is display
    assert display.figure_ is not figure


def test_two_models_stand_side_by_side_and_share_their_scale(yeast, models):
    _, _, X, y = yeast
    two = {name: models[name] for name in ("ours", "rows")}
    display = ConfusionNormDisplay.from_estimator(two, X, y)
    left, right = display.ax_
    assert left.images[0].get_clim() == right.images[0].get_clim()
    for panel, name in zip(display.ax_, two, strict=True):
        title = panel.get_title().replace("\n", " ")
        assert title.startswith(f"{name} norm of the confusion matrix")
        assert title.endswith(f"{display.norms[name]:.3f}")


def test_curves_have_a_second_panel_only_with_samples(models, yeast):
    X, y, _, _ = yeast
    alone = TrainingCurveDisplay.from_estimator(models["ours"])
    assert alone.train_norm is alone.validation_norm is None
    assert alone.ax_.get_title() == "ConfusionBoostingClassifier: training loss and its certified bound"
    both = TrainingCurveDisplay.from_estimator(models["ours"], X, y, name="mine")
    assert [len(panel.lines) for panel in both.ax_] == [2, 1]
    assert both.ax_[0].get_title().startswith("mine:")


def test_search_has_a_curve_per_candidate_and_names_the_selected_one(models):
    display = TrainingCurveDisplay.from_estimator(models["ours"], kind="search")
    records = models["ours"].search_results_
    curves = sorted(line.get_ydata().tolist() for line in display.ax_.lines)
    assert curves == sorted(record["losses"] for record in records)
    (selected,) = (record for record in records if record["outcome"] == "selected")
    (black,) = (line for line in display.ax_.lines if line.get_color() == "black")
    assert black.get_ydata().tolist() == selected["losses"]
    said = display.ax_.get_legend().get_texts()[0].get_text()
    assert said.startswith(f"selected: smoothing {selected['smoothing']:g}, depth {selected['max_depth']}, loss ")
    assert display.ax_.get_title().endswith(f"loss of {len(records)} candidates on held-out samples")
    assert len(display.plot().ax_.lines) == 2  # the display has the training curves, too


# What people see.


def test_cells_say_percentages_and_rows_their_sums():
    y = ["a"] * 200 + ["b"] * 4
    predicted = ["b"] + ["a"] * 199 + ["a", "b", "b", "b"]
    display = ConfusionNormDisplay.from_predictions(y, predicted)
    assert texts_of(display.ax_) == ["<1", "25", "<1", "25"]
    assert labels_of(display.ax_.xaxis) == ["a", "b", "missed"]
    assert display.ax_.get_xlabel() == "predicted class"


@pytest.mark.parametrize("cmap", ["magma_r", "viridis", "Greys"])
def test_text_in_cells_has_contrast(cmap):
    shares = np.linspace(0, 1, 36).reshape(6, 6) * (1 - np.eye(6))
    display = ConfusionNormDisplay({"a": shares / 5}, range(6)).plot(cmap=cmap)
    image = display.ax_.images[0]
    for text in display.ax_.texts:
        column, row = text.get_position()
        if column < 6:
            cell = luminance(image.cmap(image.norm(100 * shares[int(row), int(column)] / 5)))
            ink = luminance(to_rgb(text.get_color()))
            assert (max(cell, ink) + 0.05) / (min(cell, ink) + 0.05) > 4.5


@pytest.mark.parametrize(("size", "n_classes"), [(None, 30), ((5.0, 4.0), 30), ((14.0, 9.0), 4)])
@pytest.mark.parametrize("kind", OF_ROWS)
def test_labels_of_up_to_30_classes_do_not_overlap_and_stay_inside(kind, size, n_classes):
    y, predicted = letters(n_classes)
    ax = None if size is None else plt.subplots(figsize=size, layout="constrained")[1]
    display = kind.from_predictions(y, predicted, ax=ax)
    display.figure_.draw_without_rendering()
    panel = display.ax_
    axes = [panel, *panel.child_axes]
    labels = [shown_labels(axis) for each in axes for axis in (each.xaxis, each.yaxis)]
    for along in labels:
        assert overlap(boxes_of(along)) == []
    texts = [text for each in axes for text in (each.title, each.xaxis.label, each.yaxis.label)]
    legend = panel.get_legend()
    boxes = boxes_of([*texts, *itertools.chain(*labels), *(legend.get_texts() if legend else [])])
    whole = display.figure_.bbox
    for box in boxes:
        assert whole.x0 <= box.x0 + 1
        assert whole.y0 <= box.y0 + 1
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1


def test_cells_of_30_classes_are_written_where_they_can_be_read():
    y, predicted = letters(30)
    own = ConfusionNormDisplay.from_predictions(y, predicted)
    assert len(own.ax_.texts) == 29 + 30
    small = ConfusionNormDisplay.from_predictions(y, predicted, ax=plt.subplots(figsize=(3, 3))[1])
    assert len(small.ax_.texts) == 0


def test_recalls_stand_above_their_sizes_and_say_their_names():
    y = ["rare"] * 3 + ["common"] * 300
    display = PerClassRecallDisplay.from_predictions(y, {"good": y, "bad": ["common"] * 303})
    panel = display.ax_
    assert panel.get_xscale() == "log"
    assert labels_of(panel.child_axes[0].xaxis) == ["rare (3)", "common (300)"]
    assert [text.get_text() for text in panel.get_legend().get_texts()] == [
        "good: mean recall 1.00",
        "bad: mean recall 0.50",
    ]
    assert panel.child_axes[0].get_xticks() == pytest.approx([3, 300])
    assert "95 % confidence intervals" in panel.get_ylabel().replace("\n", " ")
    assert "moved apart" not in panel.get_xlabel()
    for line, recalls in zip(panel.lines[::3], ([1, 1], [0, 1]), strict=True):
        assert line.get_ydata().tolist() == recalls


def test_axis_of_sizes_says_if_its_scale_is_not_exact():
    for sizes, expected in {(10, 10, 100): "moved apart", (50,) * 26: "too similar for a scale"}.items():
        y = np.repeat(np.arange(len(sizes)), sizes)
        panel = PerClassRecallDisplay.from_predictions(y, y).ax_
        assert expected in panel.get_xlabel().replace("\n", " ")
        assert bool(len(panel.get_xticks())) == ("moved" in expected)


def test_one_round_is_a_point_and_rounds_are_whole():
    display = TrainingCurveDisplay([1.0], [2.0]).plot()
    display.figure_.draw_without_rendering()
    assert {line.get_marker() for line in display.ax_.lines} == {"o"}
    assert (display.ax_.get_xticks() % 1 == 0).all()


def test_models_differ_without_colour(yeast, models):
    _, _, X, y = yeast
    panel = PerClassRecallDisplay.from_estimator(models, X, y).ax_
    markers = [line.get_marker() for line in panel.lines if line.get_marker() in "os^Dv"]
    assert markers == ["o", "s", "^"]


def test_legends_say_where_training_ended():
    display = TrainingCurveDisplay([4, 2, 1], [5, 3, 2], train_norm=[1, 0.5, 0.75]).plot()
    texts = [text.get_text() for panel in display.ax_ for text in panel.get_legend().get_texts()]
    assert texts == [
        "certified bound on the loss: 2 at the end",
        "loss: 1 at the end",
        "training samples: 0.750 at the end, at best 0.500 (round 2)",
    ]


def test_curves_name_the_norm_that_was_minimised(yeast):
    model = ConfusionBoostingClassifier(n_estimators=2, max_depth=2, smoothing=1, norm="worst-class").fit(*yeast[:2])
    panel = TrainingCurveDisplay.from_estimator(model, name="mine").ax_
    texts = [text.get_text() for text in panel.get_legend().get_texts()]
    assert panel.get_title() == "mine: training loss (worst-class norm) and its certified bound"
    assert texts[0].startswith("certified bound on the loss (worst-class norm): ")
    assert texts[1].startswith("loss (worst-class norm): ")


def test_loss_that_falls_far_has_a_log_axis_with_plain_numbers():
    display = TrainingCurveDisplay([100, 1, 0.01], [100, 2, 0.02]).plot()
    assert display.ax_.get_yscale() == "log"
    assert labels_of(display.ax_.yaxis) == ["0.01", "0.1", "1", "10", "100"]
    assert TrainingCurveDisplay([100, 1, 0.0], [100, 2, 0.0]).plot().ax_.get_yscale() == "linear"


def test_names_are_shown_as_they_are():
    y = ["_hidden", "$x^2", r"\frac", "<script>", "two\nlines", "", "%d {}"]
    shown = ["_hidden", "$x^2", r"\frac", "<script>", "two lines", "(no name)", "%d {}"]
    named = {"_hidden": y, "$x^2": y, "": y}
    panel = PerClassRecallDisplay.from_predictions(y, named, labels=y).ax_
    panel.figure.draw_without_rendering()
    legend = [text.get_text() for text in panel.get_legend().get_texts()]
    assert legend == [f"{name}: mean recall 1.00" for name in ("_hidden", "$x^2", "(no name)")]
    assert labels_of(panel.child_axes[0].xaxis) == [f"{name} (1)" for name in shown]
    confusion = ConfusionNormDisplay.from_predictions(y, named, labels=y)
    confusion.figure_.draw_without_rendering()
    assert [panel.get_title().split("\n")[0] for panel in confusion.ax_] == ["_hidden", "$x^2", "(no name)"]
    assert labels_of(confusion.ax_[0].yaxis) == shown
    TrainingCurveDisplay([1], [1], name="$x^2").plot().figure_.draw_without_rendering()


# Text and places.


@given(st.lists(st.text(max_size=24), min_size=1, max_size=9, unique_by=readable), st.integers(6, 20))
@FEW
def test_short_names_are_short_and_differ(names, limit):
    shortened = short_names(names, limit)
    assert len(set(shortened)) == len(names)
    assert all(0 < len(name) <= limit for name in shortened)
    assert all(short == readable(name) for short, name in zip(shortened, names, strict=True) if "…" not in short)


@given(st.floats(0, 1))
@FEW
def test_percentages_are_short_and_only_nothing_is_nothing(share):
    text = percent(share)
    assert len(text) <= 3
    assert (text == "") == (share <= 1e-9)
    assert (text == "100") == (share >= 1 - 1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0.001, 0.2), st.floats(0, 0.1))
@FEW
def test_positions_are_moved_apart_in_order_and_inside(places, apart, margin):
    places = np.sort(places)
    moved = move_apart(places, apart, margin)
    room = min(apart, (1 - 2 * margin) / max(len(places) - 1, 1))
    assert (np.diff(moved) >= room - 1e-9).all()
    assert moved.min() >= margin - 1e-9
    assert moved.max() <= 1 - margin + 1e-9


def test_positions_that_are_far_apart_stay():
    assert move_apart(np.array([0.1, 0.4, 0.9]), 0.2).tolist() == pytest.approx([0.1, 0.4, 0.9])


@given(st.floats(1, 1e9), st.floats(1, 1e6))
@FEW
def test_axis_shows_all_sizes_and_some_numbers(low, factor):
    left, right = size_limits(np.array([low, low * factor]))
    assert left < low <= low * factor < right
    numbers = round_numbers(left, right)
    assert 1 <= len(numbers) <= 9
    assert numbers == sorted(set(numbers))


def test_text_is_folded_at_its_room():
    assert fold("one two three", 45) == "one two\nthree"
    assert fold("one two three", 1000) == "one two three"


# What is refused.


@pytest.mark.parametrize("kind", OF_ROWS)
def test_models_that_cannot_predict_are_refused(kind, yeast, models):
    _, _, X, y = yeast
    with pytest.raises(NotFittedError):
        kind.from_estimator(CoMBoClassifier(), X, y)
    with pytest.raises(TypeError, match="has no predict method; give a fitted classifier"):
        kind.from_estimator("CoMBo", X, y)
    with pytest.raises(TypeError, match="has no predict method"):
        kind.from_estimator(CoMBoClassifier, X, y)
    with pytest.raises(ValueError, match="empty dict"):
        kind.from_estimator({}, X, y)
    with pytest.raises(ValueError, match="look the same"):
        kind.from_estimator({"a": models["ours"], "a ": models["CoMBo"]}, X, y)
    with pytest.raises(ValueError, match="predictions holds"):
        kind.from_estimator(LinearRegression().fit(X, np.arange(len(y)) / 7), X, y)


@pytest.mark.parametrize("kind", OF_ROWS)
def test_samples_that_do_not_match_are_refused(kind, yeast, models):
    _, _, X, y = yeast
    with pytest.raises(ValueError, match=r"X has 742 rows, as ConfusionBoostingClassifier sees it, and y 741"):
        kind.from_estimator(models["ours"], X, y[1:])
    with pytest.raises(ValueError, match="y_true has 3 rows and the predictions of b 2; pass one prediction"):
        kind.from_predictions([0, 1, 1], {"a": [0, 1, 1], "b": [0, 1]})
    with pytest.raises(ValueError, match="so there are no confusions"):
        kind.from_predictions(["a", "a"], ["a", "a"])
    with pytest.raises(ValueError, match="all text or all numbers"):
        kind.from_predictions(["a", "b"], [0, 1])
    with pytest.raises(ValueError, match="not in labels"):
        kind.from_predictions(["a", "b"], ["a", "c"], labels=["a", "b"])
    assert plt.get_fignums() == []


@pytest.mark.parametrize("kind", OF_ROWS)
def test_axes_that_do_not_match_are_refused(kind):
    with pytest.raises(TypeError, match="is not a matplotlib Axes"):
        kind.from_predictions([0, 1], [0, 1], ax="here")
    with pytest.raises(ValueError, match="has 1 panels and ax has 2; give one Axes for each"):
        kind.from_predictions([0, 1], [0, 1], ax=plt.subplots(1, 2)[1])


@pytest.mark.parametrize("confidence", [0, 1, "high", None])
def test_confidence_outside_of_0_to_1_is_refused(confidence):
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        PerClassRecallDisplay.from_predictions([0, 1], [0, 1], confidence=confidence)


def test_models_without_curves_are_refused(yeast, models):
    X, y, _, _ = yeast
    with pytest.raises(NotFittedError):
        TrainingCurveDisplay.from_estimator(CoMBoClassifier())
    with pytest.raises(TypeError, match="give a fitted booster"):
        TrainingCurveDisplay.from_estimator(None)
    tree = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="DecisionTreeClassifier has no loss_curve_ and no bound_curve_"):
        TrainingCurveDisplay.from_estimator(tree)
    pipeline = make_pipeline(StandardScaler(), models["ours"])
    with pytest.raises(ValueError, match="For a pipeline give its last step"):
        TrainingCurveDisplay.from_estimator(pipeline)


def test_models_without_a_search_are_refused_with_advice(yeast, models):
    X, y, _, _ = yeast
    given = ConfusionBoostingClassifier(n_estimators=1, smoothing=1, max_depth=2).fit(X, y)
    for model in (given, models["CoMBo"]):
        with pytest.raises(ValueError, match=rf'{type(model).__name__} has no search to plot; fit .*smoothing="auto"'):
            TrainingCurveDisplay.from_estimator(model, kind="search")
    tiny = ConfusionBoostingClassifier(n_estimators=1).fit(X[:20], y[:20])
    with pytest.raises(ValueError, match=r"no search to plot \(not searched: 20 samples are fewer than 30\); fit"):
        TrainingCurveDisplay.from_estimator(tiny, kind="search")
    with pytest.raises(ValueError, match="kind='loss'; give 'training' or 'search'"):
        TrainingCurveDisplay.from_estimator(models["ours"], kind="loss")


def test_models_that_reject_samples_are_refused_with_advice(yeast):
    X, y, _, _ = yeast
    options = {"decision": "expected_cost", "reject_cost": 0.01, "reject_label": "ask"}
    model = ConfusionBoostingClassifier(n_estimators=3, **options).fit(X, y)
    kinds = (ConfusionNormDisplay, PerClassRecallDisplay, TrainingCurveDisplay)
    for kind in kinds:
        with pytest.raises(
            ValueError, match=r"predicts \['ask'\].* do not belong in a confusion matrix.*reject_cost=None"
        ):
            kind.from_estimator(model, X, y)
    model.set_params(reject_cost=None, reject_label=None)
    for kind in kinds:
        kind.from_estimator(model, X, y)


def test_samples_of_curves_that_do_not_match_are_refused(yeast, models):
    X, y, _, _ = yeast
    model = models["ours"]
    with pytest.raises(ValueError, match="X is given without y; give both"):
        TrainingCurveDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="y_val is given without X_val"):
        TrainingCurveDisplay.from_estimator(model, y_val=y)
    with pytest.raises(ValueError, match="sample_weight_val is given without X_val"):
        TrainingCurveDisplay.from_estimator(model, sample_weight_val=np.ones(3))
    with pytest.raises(ValueError, match="X has 742 rows and y 741"):
        TrainingCurveDisplay.from_estimator(model, X, y[1:])
    with pytest.raises(ValueError, match="all text or all numbers"):
        TrainingCurveDisplay.from_estimator(model, X, np.arange(len(y)))
    with pytest.raises(ValueError, match="one number per round"):
        TrainingCurveDisplay([1, 2], [1])
    with pytest.raises(ValueError, match="one number per round"):
        TrainingCurveDisplay([], [])


def test_data_of_displays_must_match_their_classes():
    with pytest.raises(ValueError, match="matrix of a has shape \\(2, 2\\) for 3 classes"):
        ConfusionNormDisplay({"a": np.zeros((2, 2))}, ["x", "y", "z"])
    with pytest.raises(ValueError, match="0 matrices"):
        ConfusionNormDisplay({}, ["x", "y"])
    with pytest.raises(ValueError, match="one size"):
        PerClassRecallDisplay({"a": [1.0, 1.0]}, ["x", "y"], [1])
    with pytest.raises(ValueError, match="No class has samples"):
        PerClassRecallDisplay({"a": [np.nan, np.nan]}, ["x", "y"], [0, 0]).plot()


@pytest.mark.usefixtures("undrawn")
def test_any_classifier_of_scikit_learn_can_be_shown(yeast):
    _, _, X, y = yeast
    display = ConfusionNormDisplay.from_estimator(DummyClassifier().fit(X, y), X, y)
    assert display.norms["DummyClassifier"] == pytest.approx(3.0)
