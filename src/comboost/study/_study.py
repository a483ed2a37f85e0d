"""The study. In: nothing. Out: the numbers of the experiment, which every fold needs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Study:
    """The numbers of the experiment; the defaults are the paper's.

    Parameters
    ----------
    seed : int, default=2013
        Decides all folds and all draws.
    n_folds : int, default=5
        Parts of a cross-validation.
    n_rounds : int, default=200
        Rounds of CoMBo and AdaBoost.MM.
    n_rival_rounds : int, default=51
        Rounds of AdaBoost.NC and SMOTEBoost.
    """

    seed: int = 2013
    n_folds: int = 5
    n_rounds: int = 200
    n_rival_rounds: int = 51
