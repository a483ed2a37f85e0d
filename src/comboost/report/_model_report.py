"""The report that users hold. In: a fitted classifier and rows. Out: a dict, and of it a page, JSON and Markdown."""

import errno
import html as markup
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

from numpy.typing import ArrayLike

from comboost._persistence.atomic_write import replace_file
from comboost.report._inquiry import Inquiry
from comboost.report._markdown import write_markdown
from comboost.report._page import render_page
from comboost.report._summary import SUMMARY_FORMAT, answer_inquiry

FRAME = (
    '<iframe title="{title}" srcdoc="{page}" sandbox="allow-scripts" loading="lazy" '
    'style="width: 100%; height: 40rem; border: 1px solid #888888"></iframe>'
)


class ModelReport:
    """What a fitted classifier finds of every class, and whether that is more than a baseline finds.

    The verdict follows from intervals: recalls of the two are compared row by row, and "more" is said only where chance
    does not explain it. It also tells which classes are taken for which, with rows that show it, how far the
    probabilities can be trusted, and, of the boosters of comboost, what training certifies, how it went, and which
    features matter to which class.

    Parameters
    ----------
    model : fitted classifier
        Any scikit-learn classifier, pipelines and searches too.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows that it was not trained on.
    y : array-like of shape (n_samples,)
        Their classes. Every row counts once: there are no weights.
    baseline : fitted classifier, default=None
        What to compare with. It may know other classes.
    X_baseline : array-like, sparse matrix or data frame, default=None
        The same rows as the baseline wants them, if that wants other columns.
    name : str, default=None
        What the model is called; by default its class.
    baseline_name : str, default=None
        What the baseline is called.
    target : str, default=None
        What the classes are called, to be shown.
    source : str, default=None
        Where the rows come from, to be shown.
    confidence : float, default=0.95
        Of all intervals, in (0, 1).
    random_state : int, default=0
        Seeds the draws behind the intervals of measures. The same call gives the same bytes.

    Attributes
    ----------
    summary : dict
        All that the report shows, as text, numbers, lists and dicts; docs/report.md says what is in it.

    See Also
    --------
    comboost.model_selection.cross_validate_confusion : What to expect of a classifier that is not fitted yet.
    comboost.displays.PerClassRecallDisplay : The recalls as a picture.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from comboost import ConfusionBoostingClassifier
    >>> from comboost.datasets import load_yeast
    >>> from comboost.report import ModelReport
    >>> X, y = load_yeast(return_X_y=True)
    >>> model, baseline = ConfusionBoostingClassifier(n_estimators=50), DecisionTreeClassifier(random_state=0)
    >>> report = ModelReport(model.fit(X[::2], y[::2]), X[1::2], y[1::2], baseline=baseline.fit(X[::2], y[::2]))
    >>> report.summary["verdict"]["kind"], report.summary["asked"]["n_rows"]
    ('better', 742)
    >>> report
    ModelReport(ConfusionBoostingClassifier on 742 rows, 10 classes)
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
        self.summary = answer_inquiry(
            Inquiry(
                model=model,
                X=X,
                y=y,
                baseline=baseline,
                X_baseline=X_baseline,
                name=name,
                baseline_name=baseline_name,
                target=target,
                source=source,
                confidence=confidence,
                random_state=random_state,
            )
        )

    @classmethod
    def from_summary(cls, summary: Mapping[str, Any]) -> Self:
        """Make a report of a summary, such as `json` gives: nothing is computed again.

        Parameters
        ----------
        summary : dict
            The summary of a report.

        Returns
        -------
        ModelReport
            The report.
        """
        if not isinstance(summary, Mapping) or summary.get("format") != SUMMARY_FORMAT:
            seen = summary.get("format") if isinstance(summary, Mapping) else type(summary).__name__
            raise ValueError(
                f"This is no summary of a report, of format {SUMMARY_FORMAT}, but {seen!r}; give report.summary, or "
                "what report.json() holds."
            )
        report = object.__new__(cls)
        report.summary = dict(summary)
        return report

    def html(self) -> str:
        """The report as one page, which needs nothing beside it; the package jinja2 must be installed.

        Returns
        -------
        str
            The page.
        """
        return render_page(self.summary)

    def json(self) -> str:
        """The summary as JSON.

        Returns
        -------
        str
            One object, a line for each of its entries.
        """
        entries = (f"{json.dumps(key)}: {to_one_line(value)}" for key, value in self.summary.items())
        return "{\n" + ",\n".join(entries) + "\n}\n"

    def markdown(self) -> str:
        """The report as Markdown, with tables as GitHub has them.

        Returns
        -------
        str
            The text.
        """
        return write_markdown(self.summary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file, in the form that its name ends with.

        Parameters
        ----------
        path : str or path-like
            A name that ends with .html, .json or .md. A file that is there is replaced at the end, at once: it is whole
            at any moment, and stays as it was if something fails.
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
                f"The report cannot be saved: {error.strerror or error}. Nothing has changed; give a path in a folder "
                "that is there, can be written to and has room",
                os.fspath(path),
            ) from error

    def _repr_html_(self) -> str:
        """The page in a frame of its own, whose styles and scripts leave a notebook alone."""
        page = markup.escape(self.html(), quote=True)
        return FRAME.format(title=markup.escape(self.summary["title"], quote=True), page=page)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.summary['title']})"


def to_one_line(value: Any) -> str:
    """A plain value as JSON; written so, matrices of many classes take seconds less than indented."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


FORMS = {".html": "html", ".json": "json", ".md": "markdown"}  # methods by the endings of files


def form_of(path: str | os.PathLike[str]) -> str:
    """The form of a file, by its ending."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"A report cannot be saved to {path!r}; give a path.")
    ending = Path(path).suffix.lower()
    if ending not in FORMS:
        raise ValueError(
            f"The report {os.fspath(path)!r} ends with {ending!r}; give a name that ends with {', '.join(FORMS)}."
        )
    if Path(path).is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "The report cannot be saved to a folder; give the name of a file in it", str(path)
        )
    return FORMS[ending]
