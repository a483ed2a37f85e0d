"""Report on a fitted classifier: per-class recall, comparison with a baseline, confusions, bounds and calibration.

``summary`` is a plain dict, which the page, the JSON and the Markdown present. README.md in this folder explains the
code.
"""

from comboost.report._model_report import ModelReport

__all__ = ["ModelReport"]
