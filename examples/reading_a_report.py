"""
Reading a report
================

Is a model better than a baseline, for which classes, and is the difference significant?

``python examples/reading_a_report.py`` shows the page in a browser, with ``report.html`` after it saves it.
"""

import sys
import tempfile
import webbrowser
from pathlib import Path

from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_yeast
from comboost.report import ModelReport

# sphinx_gallery_thumbnail_path = "pictures/reading_a_report.png"


def main() -> ModelReport:
    """Compare with a random forest on proteins of yeast that neither has seen."""
    X, y = load_yeast(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    model = ConfusionBoostingClassifier().fit(X_train, y_train)
    forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
    report = ModelReport(model, X_test, y_test, baseline=forest, target="localization site", source="yeast")

    # The verdict follows from confidence intervals; notes warn about what may mislead.
    for sentence in [*report.summary["verdict"]["sentences"], *report.summary["notes"]]:
        print(sentence)

    # The summary is a dict: here the classes with a significant difference in recall.
    for each in report.summary["classes"]:
        difference = each["difference"]
        if difference["significant"]:
            low, high = difference["interval"]
            print(f"{each['name']}: {difference['value']:+.2f} ({low:+.2f} to {high:+.2f})")
    return report


if __name__ == "__main__":
    report = main()
    if len(sys.argv) > 1:
        report.save(sys.argv[1])
    else:
        page = Path(tempfile.mkdtemp(), "report.html")
        report.save(page)
        webbrowser.open(page.as_uri())
