"""What a fitted vote tells of itself: explanations, importances, trees in words, frames and pictures."""

import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from comboost._engine.forest import Forest, Tree
from comboost._estimators.parameters import DECIMALS, n_threads_of
from comboost._estimators.predict import Voter
from comboost._extras import import_shap
from comboost._inspection.frame import Lineage, list_nodes
from comboost._inspection.plot import TreeWords, boxes_of, draw_boxes
from comboost._inspection.shap import Explanation, ShapExplainer, contributions, expected_votes
from comboost._inspection.text import SplitWords, export_tree, format_name
from comboost._types import COMPLETE, NODE_DTYPE, Floats

NO_COVERS = (
    "the trees do not say what their training rows weigh, since an earlier version of comboost has grown them; fit the "
    "model again"
)


class Explained(Voter):
    """A vote of trees that can be looked into."""

    estimator: Any

    def explain(self, X: Any) -> Explanation:
        """What every feature adds to the votes on rows: exact SHAP values, by the paths through the trees.

        The value of a feature is its mean effect on the votes when features become known one after the other, over all
        orders. As long as a feature is not known, both ways of its splits are followed, as often as the training rows
        took them. Features that no tree looks at add exactly 0.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Explanation
            ``values`` of shape (n_samples, n_features, n_classes) and ``base_values`` of shape (n_classes,), in the
            order of ``classes_``. Base values plus the sum over the features are the votes f of every class: what
            `decision_function` gives, but for two classes, where that gives f(1) − f(0). A class without weight has
            only its base value.

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
        forest = self._covered_forest("explain")
        values = contributions(self._read(X), forest, n_threads_of(self.n_jobs), len(self.classes_), self._voted)
        return Explanation(values, self._for_all(expected_votes(forest), self._no_votes))

    def to_shap(self) -> ShapExplainer:
        """Make an explainer for the plots of the ``shap`` package, which must be installed.

        Returns
        -------
        callable
            ``explainer(X)`` is a ``shap.Explanation``, and ``explainer(X)[..., k]`` its part of class k, which
            ``shap.plots.beeswarm``, ``waterfall`` and the others take.
        """
        self._covered_forest("to_shap")
        import_shap()
        return ShapExplainer(self)

    @property
    def class_importances_(self) -> Floats:
        """The importance of every feature for every class, (n_classes, n_features); every row sums to 1.

        It is the share of the feature's splits in what all splits take from the variance of the trees' votes for the
        class, on the training rows; all 0 if no split changes them.
        """
        forest = self._covered_forest("class_importances_", AttributeError)
        found = Lineage.of(forest).importances()
        totals = found.sum(axis=1, keepdims=True)
        shares = np.divide(found, totals, out=np.zeros_like(found), where=totals > 0)
        return np.ascontiguousarray(self._for_all(shares.T, 0.0).T)

    def trees_to_frame(self) -> Any:
        """All nodes of all rounds as a pandas DataFrame.

        Returns
        -------
        DataFrame
            A row for every node: ``round``; ``node``, its number in the tree; ``depth``; ``parent``, ``left`` and
            ``right``, nodes of the same tree; ``feature``; ``threshold``, values up to which go left;
            ``categories_left``, those that do; ``missing_left``, whether missing values do, and categories that
            training has not seen; ``cover``, the node's share of the weight of the training rows, unless an earlier
            version has grown the trees; ``weight``, that of the round. Of a leaf ``class``, which gets the weight of
            the round, or ``value_<class>`` for every class that has scores. What a node does not have is missing.

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
            self._built_in("trees_to_frame"), self._feature_names(), self._voted_classes, self._categories
        )

    def plot_tree(
        self, round_idx: int, *, max_depth: int | None = None, ax: Any = None, decimals: int | None = 3
    ) -> Any:
        """Draw the tree of a round with matplotlib.

        Parameters
        ----------
        round_idx : int
            The round, counted from 0; negative ones count from the last.
        max_depth : int or None, default=None
            Levels of splits to draw; of what is below, the leaves are counted. None is all.
        ax : matplotlib Axes, optional
            Where to draw; a new figure that is large enough, if none is given.
        decimals : int or None, default=3
            As in `export_text`.

        Returns
        -------
        matplotlib Axes
            Where the tree was drawn. The rule in a box holds on its left. Boxes tell the share of the training weight;
            leaves their class, or their strongest votes, in a colour of the class with the most.
        """
        tree = self._tree_of("plot_tree", round_idx, decimals)
        if max_depth is not None and (not isinstance(max_depth, numbers.Integral) or max_depth < 0):
            raise ValueError(f"plot_tree got max_depth={max_depth!r}; give an integer from 0 on, or None.")
        alone = Forest.join([tree], np.ones(1), self._forest.kinds, self._forest.n_classes)
        lineage, classes = Lineage.of(alone), [format_name(label) for label in self._voted_classes]
        covers = None
        if alone.covers is not None:
            covers = lineage.covers()
            covers /= covers[0]
        words = TreeWords(self._split_words(alone, decimals), classes, alone.votes, covers)
        return draw_boxes(boxes_of(lineage, words, None if max_depth is None else int(max_depth)), ax)

    def export_text(self, round_idx: int, *, decimals: int | None = 3) -> str:
        """Write the tree of a round as indented rules.

        Parameters
        ----------
        round_idx : int
            The round, counted from 0; negative ones count from the last.
        decimals : int or None, default=3
            Decimals of a threshold, significant digits of one between -1 and 1; None is all that it has.

        Returns
        -------
        str
            The rules, a line each.

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
        nodes, sets, votes, _ = self._tree_of("export_text", round_idx, decimals)
        return export_tree(
            nodes.view(NODE_DTYPE)[:, 0],
            sets=sets,
            feature_names=getattr(self, "feature_names_in_", None),
            class_names=self._voted_classes,
            categories=self._categories.values,
            infrequent=self._categories.infrequent,
            missing=self._with_missing(),
            leaf_values=votes,
            decimals=decimals,
        )

    def _split_words(self, forest: Forest, decimals: int | None) -> SplitWords:
        """What puts the splits of trees into words."""
        features, missing = [format_name(name) for name in self._feature_names()], self._with_missing()
        return SplitWords(
            forest.sets, features, self._categories.values, self._categories.infrequent, missing, decimals
        )

    def _with_missing(self) -> Any:
        """The features of which missing values were seen, or may have been."""
        return np.flatnonzero(self._forest.kinds != COMPLETE)

    def _feature_names(self) -> list[Any]:
        return list(getattr(self, "feature_names_in_", [f"x{f}" for f in range(self.n_features_in_)]))

    def _tree_of(self, method: str, round_idx: int, decimals: int | None) -> Tree:
        """The tree of a round."""
        forest = self._built_in(method)
        if not isinstance(round_idx, numbers.Integral) or not -self.n_iter_ <= round_idx < self.n_iter_:
            raise ValueError(f"There is no round {round_idx!r}; the model has {self.n_iter_}, counted from 0.")
        if not DECIMALS.holds(decimals):
            raise ValueError(f"{method} got decimals={decimals!r}; give {DECIMALS.words}.")
        return forest.tree(int(round_idx) % self.n_iter_)

    def _built_in(self, method: str, error: type[Exception] = ValueError) -> Forest:
        """The trees, if these and no other weak learners vote."""
        check_is_fitted(self)
        if not hasattr(self, "_forest"):
            raise error(f"{method} looks into the built-in trees; with estimator= look at estimators_ instead.")
        forest: Forest = self._forest
        return forest

    def _covered_forest(self, method: str, error: type[Exception] = ValueError) -> Forest:
        """The trees, if they know what their training rows weigh."""
        forest = self._built_in(method, error)
        if forest.covers is None:
            raise error(f"{method} cannot tell: {NO_COVERS}.")
        return forest
