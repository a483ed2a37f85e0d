"""The public class: collects a summary and presents it as HTML, JSON or Markdown."""

import errno
import html as markup
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

from numpy.typing import ArrayLike

from comboost._persistence.atomic_write import replace_file
from comboost.report._collect.request import EvaluationRequest
from comboost.report._collect.summary import SUMMARY_FORMAT, summarize
from comboost.report._render.markdown import render_markdown
from comboost.report._render.page import render_page

FRAME = (
    '<iframe title="{title}" srcdoc="{page}" sandbox="allow-scripts" loading="lazy" '
    'style="width: 100%; height: 40rem; border: 1px solid #888888"></iframe>'
)
FORMS = {".html": "html", ".json": "json", ".md": "markdown"}  # methods by file extension


class ModelReport:
    """Report on a fitted classifier, with a significance test against a baseline.

    The verdict follows from confidence intervals: the two models are compared sample by sample, and a difference is
    only reported if it is significant. The report also shows the confusion matrices, the most confused pairs of
    classes with example samples, and the calibration of the probabilities. For comboost's own boosters it adds
    certified bounds, training curves and feature importances by class.

    Parameters
    ----------
    model : fitted classifier
        Any scikit-learn classifier, pipeline or search.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Samples that the model was not trained on.
    y : array-like of shape (n_samples,)
        True classes. There are no sample weights.
    baseline : fitted classifier, default=None
        Classifier to compare with. It may know other classes.
    X_baseline : array-like, sparse matrix or data frame, default=None
        The same samples for the baseline, if it needs other features.
    name : str, default=None
        Name of the model; by default its class.
    baseline_name : str, default=None
        Name of the baseline.
    target : str, default=None
        Name of the target, to be shown.
    source : str, default=None
        Origin of the samples, such as a file name, to be shown.
    confidence : float, default=0.95
        Confidence level of all intervals, in (0, 1).
    random_state : int, default=0
        Seed of the bootstrap. The same call gives the same bytes.

    Attributes
    ----------
    summary : dict
        Content of the report as text, numbers, lists and dicts; docs/report.md describes the entries.

    See Also
    --------
    comboost.model_selection.cross_validate_confusion : Cross-validation of a classifier that is not fitted yet.
    comboost.displays.PerClassRecallDisplay : The recalls as a plot.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from comboost import ConfusionBoostingClassifier
    >>> from comboost.datasets import load_yeast
    >>> from comboost.report import ModelReport
    >>> X, y = load_yeast(return_X_y=True)
    >>> model, baseline = ConfusionBoostingClassifier(n_estimators=50), DecisionTreeClassifier(random_state=0)
    >>> report = ModelReport(model.fit(X[::2], y[::2]), X[1::2], y[1::2], baseline=baseline.fit(X[::2], y[::2]))
    >>> report.summary["verdict"]["kind"], report.summary["request"]["n_samples"]
    ('better', 742)
    >>> report
    ModelReport(ConfusionBoostingClassifier on 742 samples, 10 classes)
    >>> report.save("report.html")  # doctest: +SKIP
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: ArrayLike,
        *,
        baseline: Any = None,
        X_baseline: Any = None,
        name: str | None = None,
        baseline_name: str | None = None,
        target: str | None = None,
        source: str | None = None,
        confidence: float = 0.95,
        random_state: int = 0,
    ) -> None:
        self.summary = summarize(
            EvaluationRequest(
                model, X, y, baseline, X_baseline, name, baseline_name, target, source, confidence, random_state
            )
        )

    @classmethod
    def from_summary(cls, summary: Mapping[str, Any]) -> Self:
        """Create a report from a summary without computing anything.

        Parameters
        ----------
        summary : dict
            The summary of a report, for example parsed from its JSON.

        Returns
        -------
        ModelReport
            The report.
        """
        if not isinstance(summary, Mapping) or summary.get("format") != SUMMARY_FORMAT:
            seen = summary.get("format") if isinstance(summary, Mapping) else type(summary).__name__
            raise ValueError(
                f"Expected the summary of a report in format {SUMMARY_FORMAT}, got {seen!r}; pass report.summary, or "
                "the object that report.json() contains."
            )
        report = object.__new__(cls)
        report.summary = dict(summary)
        return report

    def html(self) -> str:
        """Render the report as one self-contained HTML page; this needs jinja2.

        Returns
        -------
        str
            The page.
        """
        return render_page(self.summary)

    def json(self) -> str:
        """Render the summary as JSON.

        Returns
        -------
        str
            One object, with one line per entry.
        """
        lines = [
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
            for key, value in self.summary.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def markdown(self) -> str:
        """Render the report as Markdown, with tables in GitHub's syntax.

        Returns
        -------
        str
            The text.
        """
        return render_markdown(self.summary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file; the extension determines the form.

        Parameters
        ----------
        path : str or path-like
            A path that ends with .html, .json or .md. An existing file is replaced atomically, or kept if writing
            fails.
        """
        render = getattr(self, form_of(path))
        content: bytes = render().encode("utf-8")

        def write(stream: BinaryIO) -> None:
            stream.write(content)

        try:
            replace_file(path, write)
        except OSError as error:
            raise OSError(
                error.errno,
                f"The report cannot be saved: {error.strerror or error}. Nothing has changed; give a path in an "
                "existing, writable folder with enough space",
                os.fspath(path),
            ) from error

    def _repr_html_(self) -> str:
        """The page in a frame, so that its styles and scripts do not affect a notebook."""
        page = markup.escape(self.html(), quote=True)
        return FRAME.format(title=markup.escape(self.summary["title"], quote=True), page=page)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.summary['title']})"


def form_of(path: str | os.PathLike[str]) -> str:
    """The form of a file by its extension."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"A report cannot be saved to {path!r}; give a path.")
    extension = Path(path).suffix.lower()
    if extension not in FORMS:
        raise ValueError(
            f"The report {os.fspath(path)!r} ends with {extension!r}; give a name that ends with {', '.join(FORMS)}."
        )
    if Path(path).is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "The report cannot be saved to a folder; give the name of a file in it", str(path)
        )
    return FORMS[extension]
