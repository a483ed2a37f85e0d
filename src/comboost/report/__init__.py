"""A report on a fitted classifier: what it finds of every class, whether that is more than a baseline finds, and why.

``summary`` is a plain dict, from which the page, the JSON and the Markdown are made.
"""

from comboost.report._model_report import ModelReport

__all__ = ["ModelReport"]
