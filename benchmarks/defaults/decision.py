"""The decision. In: scores. Out: the best option over all problems, and what the way it was found is worth.

An option is a candidate, the same for all problems, or a rule, which picks one by rows and classes. For every problem
in turn the best option on all *other* problems is applied to it: what this reaches is what to expect on unseen tables.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.defaults.figures import Candidate, Figures, Floats
from benchmarks.defaults.rules import Rule
from benchmarks.defaults.scores import ranks
from benchmarks.defaults.settings import name_of

Places = NDArray[np.intp]  # a candidate for every problem


@dataclass(frozen=True)
class Options:
    """What may be decided on: by name, which candidate each problem gets."""

    names: list[str]
    places: Places  # (n_options, n_problems)

    def scores(self, scores: Floats) -> Floats:
        """Scores of the options, (n_options, n_problems), from those of the candidates."""
        return np.take_along_axis(scores, self.places, axis=0)


def candidates_as_options(figures: Figures, name: Callable[[Candidate], str]) -> Options:
    """Every candidate for all problems."""
    n_candidates, n_problems = len(figures.candidates), len(figures.problems)
    places = np.repeat(np.arange(n_candidates)[:, None], n_problems, axis=1)
    return Options([name(candidate) for candidate in figures.candidates], places)


def rules_as_options(figures: Figures, rules: Mapping[str, Rule]) -> tuple[Options, list[str]]:
    """Rules, and those that ask for a candidate that is not there."""
    known = {candidate: i for i, candidate in enumerate(figures.candidates)}
    found, left_out = {}, []
    for name, rule in rules.items():
        asked = [rule(problem.n_training_rows, problem.n_classes) for problem in figures.problems]
        candidates = [Candidate(name_of(setting), n_rounds) for setting, n_rounds in asked]
        if all(candidate in known for candidate in candidates):
            found[name] = [known[candidate] for candidate in candidates]
        else:
            left_out.append(name)
    places = np.array(list(found.values()), dtype=np.intp).reshape(len(found), len(figures.problems))
    return Options(list(found), places), left_out


def join(*options: Options) -> Options:
    """All options of several."""
    return Options([name for one in options for name in one.names], np.vstack([one.places for one in options]))


def best_option(scores: Floats) -> int:
    """The option of the best mean score."""
    return int(scores.mean(axis=1).argmax())


def best_option_by_rank(scores: Floats) -> int:
    """The option of the best mean rank."""
    return int(ranks(scores).mean(axis=1).argmin())


def leave_one_out(scores: Floats, choose: Callable[[Floats], int] = best_option) -> Places:
    """For every problem the option that is chosen by all others."""
    return leave_kind_out(scores, np.arange(scores.shape[1]), choose)


def leave_kind_out(scores: Floats, kinds: NDArray[Any], choose: Callable[[Floats], int] = best_option) -> Places:
    """For every problem the option that is chosen by the problems of other kinds."""
    return np.array([choose(scores[:, kinds != kind]) for kind in kinds])


def applied(options: Options, chosen: Places) -> Places:
    """The candidates that the chosen options give to the problems."""
    return options.places[chosen, np.arange(len(chosen))]
