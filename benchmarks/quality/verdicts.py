"""Whether that is what was asked for. In: stored curves and folds. Out: verdicts."""

import math
from collections.abc import Mapping

from benchmarks._lib.verdicts import Target, Verdict
from benchmarks.quality.measures import ACCURACY, G_MEAN, LOG_LOSS, MAUC, NORM, PLAIN_LOG_LOSS, Measure
from benchmarks.quality.methods import METHODS, UNDER_TRAINING_PRIOR
from benchmarks.quality.ranks import Entries, Means, mean_ranks, mean_values, means
from benchmarks.quality.reaching import OURS, Race, Reach, final, peers_of, reach, with_figures

MANY_CLASSES = 10
SHARE_WITH_MANY, SHARE_WITH_FEW = 1 / 8, 1 / 2
RACED = (LOG_LOSS, NORM)  # what is to be reached in that share of the time
RANKED = tuple(method.name for method in METHODS)
PEER_METHODS = tuple(method.name for method in METHODS if not method.ours)
OURS_UNDER_PRIOR, PEER_UNDER_PRIOR = (method.name for method in UNDER_TRAINING_PRIOR)
BALANCED_PEER = "LightGBM"


def allowed_share(race: Race) -> float:
    """The share of a peer's time that ours may take."""
    return SHARE_WITH_MANY if race[OURS]["n_classes"] >= MANY_CLASSES else SHARE_WITH_FEW


def complete_races(entries: Entries) -> dict[str, Race]:
    """The problems in which ours and some peer took part."""
    races = {problem: with_figures(curves) for problem, curves in entries.items()}
    return {problem: race for problem, race in races.items() if OURS in race and peers_of(race)}


def reaches(race: Race) -> list[Reach]:
    """All that is to be reached in a problem."""
    return [reach(race, measure) for measure in RACED]


def n_reached(races: Mapping[str, Race]) -> int:
    """Problems on which ours was as good as all peers in its share of the quickest peer's time."""
    return sum(all(one.ratio <= allowed_share(race) for one in reaches(race)) for race in races.values())


def n_reached_beside_leader(races: Mapping[str, Race]) -> int:
    """The same, in its share of the time of the peer that has the best value."""
    return sum(all(one.ratio_to_leader <= allowed_share(race) for one in reaches(race)) for race in races.values())


def shortfall(race: Race) -> float:
    """How far our final balanced accuracy is below that of the best peer."""
    return max(final(entry, ACCURACY) for entry in peers_of(race).values()) - final(race[OURS], ACCURACY)


def judge_curves(entries: Entries) -> list[Verdict]:
    """The figures on time to quality."""
    races = complete_races(entries)
    questions = (
        f"problems, of {len(races)}, on which ours is as good as every peer's best class-balanced log-loss and norm in "
        "its share of the quickest peer's time",
        "final balanced accuracy of the best peer minus ours, largest of all problems",
    )
    targets = Target("≥", 6), Target("≤", 0.01)
    if not races:
        return [missing(*one) for one in zip(questions, targets, strict=True)]
    figures = n_reached(races), max(map(shortfall, races.values()))
    return [Verdict(*one) for one in zip(questions, targets, figures, strict=True)]


def judge_folds(entries: Entries) -> list[Verdict]:
    """The figures on the paper's sets."""
    return [
        *(judge_rank(entries, measure) for measure in (NORM, G_MEAN, ACCURACY)),
        judge_mean(entries, MAUC),
        judge_duels(entries, LOG_LOSS, OURS, BALANCED_PEER, 7),
        judge_duels(entries, PLAIN_LOG_LOSS, OURS_UNDER_PRIOR, PEER_UNDER_PRIOR, 6),
    ]


def judge_rank(entries: Entries, measure: Measure) -> Verdict:
    """Our mean rank against the best of all others."""
    table = means(entries, measure.key, RANKED)
    question = f"mean rank of ours in {measure.title}, beside the best of the others"
    if not has_any(table, OURS):
        return missing(question, Target("≤", 1))
    ranks = mean_ranks(table, measure)
    return Verdict(question, Target("≤", min(rank for name, rank in ranks.items() if name != OURS)), ranks[OURS])


def judge_mean(entries: Entries, measure: Measure) -> Verdict:
    """Our mean over the sets against the best peer's, of those that have figures on all."""
    table = means(entries, measure.key, (OURS, *PEER_METHODS))
    question = f"mean {measure.title} of ours, beside the best peer's"
    if not has_any(table, OURS):
        return missing(question, Target("≥", 1))
    ours, *others = mean_values(table).values()
    return Verdict(question, Target("≥", measure.best([value for value in others if not math.isnan(value)])), ours)


def judge_duels(entries: Entries, measure: Measure, ours: str, peer: str, n_asked: int) -> Verdict:
    """On how many sets ours is at least as good as one peer; without figures it is not."""
    table = means(entries, measure.key, (ours, peer))
    question = f"sets, of {len(table)}, on which the {measure.title} of {ours} is at least as good as that of {peer}"
    if not has_any(table, ours):
        return missing(question, Target("≥", n_asked))
    return Verdict(question, Target("≥", n_asked), sum(measure.as_good(row[ours], row[peer]) for row in table.values()))


def has_any(table: Means, method: str) -> bool:
    """Whether a method has figures on any set."""
    return not all(math.isnan(row[method]) for row in table.values())


def missing(question: str, target: Target) -> Verdict:
    """A verdict without a figure."""
    return Verdict(question, target, None, "there are no figures yet")
