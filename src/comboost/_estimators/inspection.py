"""Inspection and export of fitted models. In: a model. Out: SHAP values, importances, trees, ONNX models, C files."""

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils.validation import check_is_fitted

from comboost._engine.forest import Forest, Tree
from comboost._estimators.parameters import DECIMALS, n_threads_of
from comboost._estimators.predict import Predictor
from comboost._export.blueprint import Blueprint, Link
from comboost._export.c import c_source
from comboost._export.onnx import make_onnx_model
from comboost._extras import import_shap
from comboost._inspection.frame import TreePaths, list_nodes
from comboost._inspection.plot import NodeFormatter, boxes_of, draw_boxes
from comboost._inspection.shap import Explanation, ShapExplainer, contributions, expected_scores
from comboost._inspection.text import SplitFormatter, export_tree, format_name
from comboost._types import COMPLETE, NODE_DTYPE, Floats, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from onnx import ModelProto


class InspectionMixin(Predictor):
    """Methods that show what a model has learned."""

    def explain(self, X: MatrixLike) -> Explanation:
        """Compute exact SHAP values of the scores, by the paths through the trees.

        The value of a feature is its mean effect on the scores when features become known one after the other, over all
        orders. As long as a feature is unknown, both branches of its splits are followed, weighted by the training
        samples that took them. Features that no tree uses have the value 0.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Explanation
            ``values`` of shape (n_samples, n_features, n_classes) and ``base_values`` of shape (n_classes,), in the
            order of ``classes_``. Base values plus the sum over the features are the scores f of every class, as
            `decision_function` returns them, except for two classes, where it returns f(1) − f(0). A class without
            weight has only its base value.

        See Also
        --------
        to_shap : The same for the plots of the ``shap`` package.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> model = CoMBoClassifier(n_estimators=1, max_depth=1).fit([[1.0, 0.0], [2.0, 0.0]], ["a", "b"])
        >>> values, base_values = model.explain([[1.0, 0.0]])
        >>> values.shape
        (1, 2, 2)
        >>> bool(values[0, 0, 0] > 0), values[0, 1].tolist()
        (True, [0.0, 0.0])
        """
        forest = self._built_in("explain")
        values = contributions(
            self._read(X), forest, n_threads_of(self.n_jobs), len(self.classes_), self._trained_indices
        )
        return Explanation(values, self._for_all(expected_scores(forest), self._absent_score))

    def to_shap(self) -> ShapExplainer:
        """Make an explainer for the plots of the ``shap`` package, which must be installed.

        Returns
        -------
        callable
            ``explainer(X)`` returns a ``shap.Explanation``; ``explainer(X)[..., k]`` is that of class k, for
            ``shap.plots.beeswarm``, ``waterfall`` and the others.
        """
        self._built_in("to_shap")
        import_shap()
        return ShapExplainer(self)

    @property
    def class_importances_(self) -> Floats:
        """Importance of every feature for every class, (n_classes, n_features); every row sums to 1.

        It is the fraction of the variance reduction that the feature's splits contribute, in the trees' values for the
        class on the training set; all 0 if no split changes them.
        """
        reductions = TreePaths.of(self._built_in("class_importances_", AttributeError)).importances()
        totals = reductions.sum(axis=1, keepdims=True)
        fractions = np.divide(reductions, totals, out=np.zeros_like(reductions), where=totals > 0)
        return np.ascontiguousarray(self._for_all(fractions.T, 0.0).T)

    def trees_to_frame(self) -> Any:
        """All nodes of all rounds as a pandas DataFrame.

        Returns
        -------
        DataFrame
            A row for every node: ``round``; ``node``, its number in the tree; ``depth``; ``parent``, ``left`` and
            ``right``, nodes of the same tree; ``feature``; ``threshold``, values up to which go left;
            ``categories_left``, those that do; ``missing_left``, whether missing values and unseen categories do;
            ``cover``, the fraction of the training weight in the node; ``weight`` of the round. A leaf has the
            predicted ``class``, or ``value_<class>``, one value per class. What a node does not have is missing.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> model = CoMBoClassifier(n_estimators=1, max_depth=1).fit([[1.0], [2.0]], ["a", "b"])
        >>> model.trees_to_frame()[["node", "depth", "left", "right", "threshold", "cover"]]
           node  depth  left  right  threshold  cover
        0     0      0     1      2        1.5    1.0
        1     1      1  <NA>   <NA>        NaN    0.5
        2     2      1  <NA>   <NA>        NaN    0.5
        """
        return list_nodes(
            self._built_in("trees_to_frame"), self._feature_names(), self._candidate_classes, self._categories
        )

    def plot_tree(
        self, round_idx: int, *, max_depth: int | None = None, ax: "Axes | None" = None, decimals: int | None = 3
    ) -> Any:
        """Draw the tree of a round with matplotlib.

        Parameters
        ----------
        round_idx : int
            Index of the round; negative ones count from the last.
        max_depth : int or None, default=None
            Number of levels to draw; below, only the number of leaves is shown. None draws all.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure that is large enough.
        decimals : int or None, default=3
            As in `export_text`.

        Returns
        -------
        matplotlib Axes
            The axes. The condition in a box holds for its left branch. Boxes show their fraction of the training
            weight. Leaves show their class, or their largest values, in the colour of the class.
        """
        tree = self._tree_of("plot_tree", round_idx, decimals)
        if max_depth is not None and (not isinstance(max_depth, numbers.Integral) or max_depth < 0):
            raise ValueError(f"plot_tree got max_depth={max_depth!r}; give an integer from 0 on, or None.")
        alone = Forest.join([tree], np.ones(1), self._forest.kinds, self._forest.n_classes)
        paths, classes = TreePaths.of(alone), [format_name(label) for label in self._candidate_classes]
        covers = paths.covers()
        formatter = NodeFormatter(
            self._split_formatter(alone, decimals), classes, alone.leaf_values, covers / covers[0]
        )
        return draw_boxes(boxes_of(paths, formatter, None if max_depth is None else int(max_depth)), ax)

    def export_text(self, round_idx: int, *, decimals: int | None = 3) -> str:
        """Write the tree of a round as indented rules.

        Parameters
        ----------
        round_idx : int
            Index of the round; negative ones count from the last.
        decimals : int or None, default=3
            Decimals of a threshold; significant digits of one between -1 and 1. None shows all digits.

        Returns
        -------
        str
            The rules, one per line.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> model = CoMBoClassifier(n_estimators=1, max_depth=2).fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])
        >>> print(model.export_text(0))
        |--- x0 <= 1.5
        |   |--- class: a
        |--- x0 > 1.5
        |   |--- x0 <= 2.5
        |   |   |--- class: b
        |   |--- x0 > 2.5
        |   |   |--- class: c
        """
        nodes, sets, leaf_values, _ = self._tree_of("export_text", round_idx, decimals)
        return export_tree(
            nodes.view(NODE_DTYPE)[:, 0],
            sets=sets,
            feature_names=getattr(self, "feature_names_in_", None),
            class_names=self._candidate_classes,
            categories=self._categories.values,
            infrequent=self._categories.infrequent,
            missing=self._with_missing(),
            leaf_values=leaf_values,
            decimals=decimals,
        )

    def _split_formatter(self, forest: Forest, decimals: int | None) -> SplitFormatter:
        """The texts of splits."""
        features, missing = [format_name(name) for name in self._feature_names()], self._with_missing()
        return SplitFormatter(
            forest.sets, features, self._categories.values, self._categories.infrequent, missing, decimals
        )

    def _with_missing(self) -> NDArray[np.intp]:
        """Indices of the features that had missing values, or may have had."""
        return np.flatnonzero(self._forest.kinds != COMPLETE)

    def _feature_names(self) -> list[Any]:
        return list(getattr(self, "feature_names_in_", [f"x{f}" for f in range(self.n_features_in_)]))

    def _tree_of(self, method: str, round_idx: int, decimals: int | None) -> Tree:
        """The tree of a round."""
        forest = self._built_in(method)
        if not isinstance(round_idx, numbers.Integral) or not -self.n_iter_ <= round_idx < self.n_iter_:
            raise ValueError(f"There is no round {round_idx!r}; the model has {self.n_iter_}, counted from 0.")
        DECIMALS.read(method, "decimals", decimals)
        return forest.tree(int(round_idx) % self.n_iter_)

    def _built_in(self, method: str, error: type[Exception] = ValueError) -> Forest:
        """The built-in trees; an error if the model has other weak learners."""
        check_is_fitted(self)
        if not hasattr(self, "_forest"):
            raise error(f"{method} inspects the built-in trees; with estimator= inspect estimators_ instead.")
        forest: Forest = self._forest
        return forest


class ExportMixin:
    """Methods that write a model for other programs."""

    def to_onnx(
        self, *, dtype: DTypeLike = np.float64, target_opset: int | dict[str, int] | None = None
    ) -> "ModelProto":
        """Convert the fitted model to an ONNX model, for onnxruntime and other servers.

        Predicted classes are those of ``predict``; scores are the same rounded to float32: see docs/deployment.md.

        Parameters
        ----------
        dtype : {"float64", "float32"} or dtype, default=float64
            Type of the input, and of the probabilities and scores. Both are exact for numbers of that type.
        target_opset : int or dict, optional
            Version of the ONNX operators, at least 13, or a dict of domains and versions; that of ``"ai.onnx.ml"`` is 3
            or 4. None is 17 and 3, which all recent runtimes support.

        Returns
        -------
        onnx.ModelProto
            A graph with the input ``"X"``, (n_samples, n_features), or, if categories are text, one input
            (n_samples, 1) per feature, by its name. Its outputs are ``"label"``, ``"probabilities"`` and ``"scores"``.
            NaN is a missing number; unseen text is missing.

        See Also
        --------
        comboost.onnx.register_converters : Register converters with skl2onnx, for pipelines.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> model = CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0]], ["a", "b"])
        >>> [output.name for output in model.to_onnx().graph.output]
        ['label', 'probabilities', 'scores']
        """
        model: ModelProto = make_onnx_model(blueprint_of(self, "to_onnx", with_link=True), dtype, target_opset)
        return model

    def to_c(self, *, name: str = "predict") -> str:
        """Convert the fitted model to one C file without dependencies, for devices.

        It is C99, and C++ as well. Predicted classes and scores are bitwise the same: see docs/deployment.md.

        Parameters
        ----------
        name : str, default="predict"
            Name of the function; all names in the file start with it.

        Returns
        -------
        str
            The source of ``int name(const double *x)``, which returns the index of the predicted class in ``classes_``;
            of ``name_scores``, which computes the scores of all classes; of ``name_label``, which returns the name of a
            class; and, if categories are text, of ``name_code``, which returns their numbers. Numeric categories are
            given as they are. NaN is a missing number.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> source = CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0]], ["a", "b"]).to_c()
        >>> "int predict(const double *x);" in source
        True
        """
        return c_source(blueprint_of(self, "to_c", with_link=False), name)


def blueprint_of(model: Any, method: str, *, with_link: bool) -> Blueprint:
    """What another program needs to predict like a fitted model, with or without probabilities."""
    check_is_fitted(model)
    model._check_prediction_parameters()
    if not hasattr(model, "_forest"):
        raise ValueError(
            f"{method} writes the built-in trees; this model has weak learners given as estimator=. Fit with "
            "estimator=None, or pickle the model."
        )
    if model.decision != "argmax":
        raise ValueError(
            f"{method} writes the class with the highest score, but this model has decision={model.decision!r}; set "
            'decision="argmax", and cost_matrix, reject_cost and reject_label to None, and compute the cheapest class '
            "from its probabilities."
        )
    model._decision()  # refuses parameters that were set after the fit
    link = None
    if with_link:
        found = model._probability_map()
        if found.curves is not None:
            raise ValueError(
                f'{method} cannot write isotonic curves, but this model has calibration="isotonic"; set '
                'calibration=None, or fit with calibration="temperature".'
            )
        link = Link(None if found.vote_fraction else found.scale / found.temperature, found.shift)
    return Blueprint(
        type(model).__name__,
        model._forest,
        model._categories,
        model.classes_,
        model._trained_indices,
        model._absent_score,
        getattr(model, "feature_names_in_", None),
        link,
    )
