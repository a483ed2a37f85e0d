"""How to get the same report again. In: a `Inquiry`. Out: versions, code or command, a digest of the rows."""

import platform
from typing import Any

import numpy
import scipy
import sklearn

from comboost import __version__
from comboost.report._inquiry import Inquiry
from comboost.report._wording import as_percent


def list_versions() -> dict[str, str]:
    """The versions of what the figures were computed with."""
    return {
        "comboost": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def tell_reproduction(inquiry: Inquiry, data_digest: str) -> dict[str, Any]:
    """What to do, and how to know that the rows are the same."""
    return {
        "sentences": [
            "The same model and the same rows give the same report, to the byte, with the same versions.",
            "Every row counts once: sample weights are not used.",
            f"Limits of recalls are Wilson's ({as_percent(inquiry.confidence)} each); those of the worst recall, and "
            "what is surely found, are those of Clopper and Pearson for all classes at once; those of differences by "
            "class are Newcombe's for pairs, widened where the exact test of McNemar cannot tell, and hold for all "
            "classes at once, after Bonferroni; those of measures, and of their differences, are Student's, each for "
            f"itself, with standard errors from rows drawn anew within every class (random_state={inquiry.random_state}"
            "); those of differences are widened to hold 0 where models that exchange answers at random differ as "
            "much.",
            "The digest is a SHA-256 of the rows and their classes, in their order.",
        ],
        "code": inquiry.command or python_code(inquiry),
        "data_digest": data_digest,
    }


def python_code(inquiry: Inquiry) -> str:
    """The lines that make such a report."""
    given = {
        "name": inquiry.name,
        "baseline_name": inquiry.baseline_name,
        "target": inquiry.target,
        "source": inquiry.source,
    }
    options = [f"{name}={value!r}" for name, value in given.items() if value is not None]
    if inquiry.baseline is not None:
        options.insert(0, "baseline=baseline")
    if inquiry.X_baseline is not None:
        options.insert(1, "X_baseline=X_baseline")
    options += [f"confidence={inquiry.confidence!r}", f"random_state={int(inquiry.random_state)}"]
    return (
        "from comboost.report import ModelReport\n\n"
        f"report = ModelReport(model, X, y, {', '.join(options)})\n"
        'report.save("report.html")'
    )
