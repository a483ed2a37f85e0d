"""The tables. In: figures. Out: Markdown, for the page on the decision."""

from collections.abc import Sequence

import numpy as np

from benchmarks._lib.page import markdown
from benchmarks._lib.store import Row
from benchmarks.defaults import decision
from benchmarks.defaults.decision import Places
from benchmarks.defaults.effects import find_curves, find_effects
from benchmarks.defaults.figures import SECONDS, Candidate, Figures, Floats, Values
from benchmarks.defaults.grid import CENTRE
from benchmarks.defaults.measures import MEASURES, TITLES
from benchmarks.defaults.problems import FAMILIES, Problem, load_rows
from benchmarks.defaults.rules import RULES
from benchmarks.defaults.scores import losses, ranks, score
from benchmarks.defaults.settings import LIGHTGBM, difference_from, name_of
from benchmarks.defaults.splits import find_splits

N_BEST = 20
N_SPLITS = 12
UNSEEN, UNSEEN_BY_RANK, UNSEEN_WITH_RULES = "unseen", "unseen, by rank", "unseen, with rules"
UNSEEN_FAMILY = "unseen family"
DECIDED, HINDSIGHT = "decided", "in hindsight"


class Study:
    """All that the tables are made of."""

    def __init__(self, figures: Figures) -> None:
        self.figures = figures
        self.families = np.array([problem.family for problem in figures.problems])
        self.scores = score(figures.values, figures)
        self.candidates = decision.candidates_as_options(figures, self.describe)
        self.rules, self.left_out_rules = decision.rules_as_options(figures, RULES)
        self.options = decision.join(self.candidates, self.rules)
        self.option_scores = self.options.scores(self.scores)
        self.chosen = decision.leave_one_out(self.scores)
        self.decided = decision.best_option(self.option_scores)

    def describe(self, candidate: Candidate) -> str:
        """A candidate in words, by what differs from the centre."""
        return f"{difference_from(CENTRE, self.figures.settings[candidate.setting])}; {candidate.n_rounds} rounds"

    def ways(self) -> dict[str, Places]:
        """Ways to choose, and the candidates that they give to the problems."""
        by_rank = decision.leave_one_out(self.scores, decision.best_option_by_rank)
        with_rules = decision.leave_one_out(self.option_scores)
        other_families = {}
        if len(set(self.families)) > 1:
            chosen = decision.leave_kind_out(self.scores, self.families)
            other_families[UNSEEN_FAMILY] = decision.applied(self.candidates, chosen)
        return {
            UNSEEN: decision.applied(self.candidates, self.chosen),
            **other_families,
            UNSEEN_BY_RANK: decision.applied(self.candidates, by_rank),
            UNSEEN_WITH_RULES: decision.applied(self.options, with_rules),
            DECIDED: self.options.places[self.decided],
            HINDSIGHT: self.scores.argmax(axis=0),
        }

    def methods(self) -> dict[str, Values]:
        """What the ways and the peers reach on every problem."""
        return {name: self.figures.at(places) for name, places in self.ways().items()} | self.figures.peers

    def relative_time(self, values: Values) -> float:
        """Fit time by LightGBM's, as the geometric mean over the problems."""
        ratios = values[SECONDS] / self.figures.peers[LIGHTGBM][SECONDS]
        return float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-6)))))


def render_page(figures: Figures) -> str:
    """All tables."""
    study = Study(figures)
    sections = {
        "Decision": render_decision(study),
        "The best options": markdown(list_best(study)),
        "What it is worth on unseen problems": render_worth(study),
        "Problem by problem": render_problems(study),
        "Rules": render_rules(study),
        "Every axis alone": render_effects(study),
        "The problems": markdown([describe_problem(problem) for problem in figures.problems]),
    }
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items()) + "\n"


def render_decision(study: Study) -> str:
    """What was compared, and which option is best."""
    figures, decided = study.figures, study.decided
    lines = [
        f"{len(figures.problems)} problems, {len(figures.settings)} settings, {len(figures.candidates)} candidates "
        f"(settings with rounds), {len(study.rules.names)} rules. Builds of comboost: {', '.join(figures.builds)}.",
        f"The centre, from which settings are named: {name_of(CENTRE)}.",
        f"**Decided: {study.options.names[decided]}**, mean score {study.option_scores[decided].mean():.3f}.",
        "The score is how far a value is behind the best candidate on the problem, by the distance from the best to "
        "the median, on average over ‖C‖, balanced accuracy, G-mean and class-balanced log-loss: 0 is the best.",
    ]
    if figures.left_out:
        lines.append(f"Left out, since some problem is missing: {len(figures.left_out)} settings.")
    return "\n\n".join(lines)


def list_best(study: Study) -> list[Row]:
    """The options of the best mean scores; how far behind the first they are, with its standard error."""
    scores, mean_ranks = study.option_scores, ranks(study.option_scores).mean(axis=1)
    order = np.argsort(-scores.mean(axis=1), kind="stable")[:N_BEST].tolist()
    return [
        {
            "option": study.options.names[option],
            "score": float(scores[option].mean()),
            "behind": behind(scores[order[0]], scores[option]),
            "rank": float(mean_ranks[option]),
            **{family: mean_or_none(scores[option, study.families == family]) for family in FAMILIES},
            "time by LightGBM's": study.relative_time(study.figures.at(study.options.places[option])),
        }
        for option in order
    ]


def mean_or_none(values: Floats) -> float | None:
    """The mean, if there is any."""
    return float(values.mean()) if len(values) else None


def behind(best: Floats, other: Floats) -> str:
    """The mean difference over problems, and its standard error."""
    differences = best - other
    error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else np.nan
    return f"{differences.mean():.3f} ± {error:.3f}"


def render_worth(study: Study) -> str:
    """What the ways to choose reach on average, beside the peers, and how often they win."""
    methods = study.methods()
    means = [
        {"method": name, "score": float(np.mean(score(values, study.figures)))}
        | {TITLES[measure]: float(values[measure].mean()) for measure in MEASURES}
        | {"time by LightGBM's": study.relative_time(values)}
        for name, values in methods.items()
    ]
    wins = [
        {f"wins of {way} over": peer}
        | {TITLES[measure]: count_wins(methods[way], values, measure) for measure in MEASURES}
        for way in (UNSEEN, DECIDED)
        for peer, values in study.figures.peers.items()
    ]
    halves = [wins[: len(wins) // 2], wins[len(wins) // 2 :]]
    words = (
        f"*{UNSEEN}*: the best candidate on all other problems, by mean score; *{UNSEEN_FAMILY}*: the best "
        f"candidate on the problems of the other families ({', '.join(FAMILIES)}); *{DECIDED}*: the decision, which "
        f"has seen the problem; *{HINDSIGHT}*: the best candidate on the problem itself, which nobody can know."
    )
    return "\n\n".join([words, markdown(means), *map(markdown, halves)])


def count_wins(ours: Values, theirs: Values, measure: str) -> str:
    """On how many problems ours is better, ties as halves."""
    difference = losses(theirs, measure) - losses(ours, measure)
    return f"{(difference > 0).sum() + (difference == 0).sum() / 2:g} of {len(difference)}"


def render_problems(study: Study) -> str:
    """By problem: what was chosen without it, and every measure."""
    methods = {name: values for name, values in study.methods().items() if name != UNSEEN_BY_RANK}
    problems = [problem.name for problem in study.figures.problems]
    choices = [
        {"problem": name, "chosen by the others": study.candidates.names[choice]}
        for name, choice in zip(problems, study.chosen.tolist(), strict=True)
    ]
    scores = {name: score(values, study.figures) for name, values in methods.items()}
    tables = [markdown(choices), table_of("score", problems, scores)]
    for measure in MEASURES:
        values = {name: found[measure] for name, found in methods.items()}
        tables.append(table_of(TITLES[measure], problems, values))
    return "\n\n".join(tables)


def table_of(title: str, problems: Sequence[str], columns: dict[str, Floats]) -> str:
    """A table with a line for every problem."""
    return markdown(
        [
            {title: problem} | {name: float(column[place]) for name, column in columns.items()}
            for place, problem in enumerate(problems)
        ]
    )


def render_rules(study: Study) -> str:
    """What rules reach: those of `rules`, and what a search for others finds."""
    own = study.option_scores[len(study.candidates.names) :]
    rows: list[Row] = [
        {"rule": name, "score": float(scores.mean())} for name, scores in zip(study.rules.names, own, strict=True)
    ]
    rows += [{"rule": f"{name} (left out: a candidate is missing)", "score": None} for name in study.left_out_rules]
    unseen = float(np.mean(np.take_along_axis(study.scores, study.chosen[None], axis=0)))
    splits = [
        {
            "two values of": split.axis,
            "condition": split.condition,
            "score, unseen": split.score,
            "gain": split.score - unseen,
            "below": study.describe(split.below),
            "above": study.describe(split.above),
        }
        for split in find_splits(study.figures, study.scores)[:N_SPLITS]
    ]
    words = (
        "Rules that a search found: two candidates that differ in one axis, by rows or classes of the training table. "
        f"The gain is over the best single candidate, both on problems left out of the search ({unseen:.3f})."
    )
    return "\n\n".join([*([markdown(rows)] if rows else []), *([words, markdown(splits)] if splits else [])])


def render_effects(study: Study) -> str:
    """By value of every axis, the distance to its twins; by setting, the scores after as many rounds."""
    effects = find_effects(study.figures, study.scores)
    words = (
        "By value of an axis: the mean score of its settings, each with the rounds that suit it best; then, by kind of "
        "problem, how much better they are than the mean of their twins, the settings that are the same in all other "
        "axes."
    )
    curves = markdown(find_curves(study.figures, study.scores))
    parts = [words, markdown(effects)] if effects else []
    return "\n\n".join([*parts, "Mean score of every setting after as many rounds:", curves])


def describe_problem(problem: Problem) -> Row:
    """A problem in a line."""
    counts = np.bincount(load_rows(problem.name)[1])
    return {
        "problem": problem.name,
        "family": problem.family,
        "rows": problem.n_samples,
        "features": problem.n_features,
        "classes": problem.n_classes,
        "smallest class": int(counts.min()),
        "imbalance": float(counts.max() / counts.min()),
        "noise": getattr(problem, "noise", None),
        "clusters": getattr(problem, "n_clusters", None),
        "folds": problem.n_folds,
    }
