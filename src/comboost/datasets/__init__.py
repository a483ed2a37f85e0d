"""Data sets of the paper's experiments, with loaders as in scikit-learn, and synthetic imbalanced problems."""

from comboost.datasets._connect4 import load_connect4
from comboost.datasets._loaders import (
    load_balance,
    load_car,
    load_dataset,
    load_ecoli,
    load_glass,
    load_new_thyroid,
    load_nursery,
    load_satimage,
    load_yeast,
)
from comboost.datasets._making import make_imbalanced

__all__ = [
    "load_balance",
    "load_car",
    "load_connect4",
    "load_dataset",
    "load_ecoli",
    "load_glass",
    "load_new_thyroid",
    "load_nursery",
    "load_satimage",
    "load_yeast",
    "make_imbalanced",
]
