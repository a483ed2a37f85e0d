"""Time to quality in words and tables. In: the stored curves. Out: Markdown, and a CSV file of all stages."""

import csv
import math
from collections.abc import Mapping
from pathlib import Path

from benchmarks._lib import page
from benchmarks._lib.page import MUCH_DISTURBED
from benchmarks._lib.store import Row
from benchmarks.quality.iterative import ITERATIVE
from benchmarks.quality.measures import ACCURACY, MEASURES, Measure
from benchmarks.quality.ranks import Entries
from benchmarks.quality.reaching import (
    OURS,
    Race,
    best,
    final,
    peers_of,
    reach,
    seconds_to,
    seconds_to_best,
    with_figures,
)
from benchmarks.quality.store import Entry
from benchmarks.quality.verdicts import RACED, allowed_share, complete_races, n_reached_beside_leader, shortfall

HEAD = """## Time to quality

Everybody balances the classes and has its defaults otherwise, with up to 500 rounds: a round is a tree, or a tree for
every class. 70 % of the rows, drawn class by class, are to learn from, the others are held out. Each fit starts from
plain arrays, so that binning counts, and nothing but a clock listens to its rounds; if it takes less than 5 s, the
quickest of three counts. It is measured afterwards, after 1, 2, 3, 5, 7, 10, ... rounds. HistGradientBoosting has no
callbacks and is timed by the lines that it prints; with class weights, the edges of its bins alone take it long. The
trees of a forest take equal shares of its time. A fit ends once its budget of time is spent.

A peer has reached its best value once it is within 1 % of it. Ours is as good once it is no worse than that best value
itself. It is to be as good as all peers in an eighth of the time of the quickest peer to reach its own best, whatever
that is worth, with ten classes or more, and in half of it with fewer.
"""


def render(entries: Entries, folder: str) -> str:
    """All about time to quality."""
    races = complete_races(entries)
    parts = [HEAD]
    if races:
        parts += [render_reaches(races, measure) for measure in RACED]
        parts.append(
            "Beside the time of the peer that has the best value, instead of the quickest one, ours is as good in its "
            f"share of the time on {n_reached_beside_leader(races)} of {len(races)} problems.\n"
        )
        parts.append(render_final(races))
    parts.append(
        "In the tables below: best value, seconds until it was within 1 % of it, and seconds after which ours was as "
        f"good as that. All stages are in [curves.csv]({folder}/curves.csv).\n"
    )
    parts += [render_problem(problem, curves, folder) for problem, curves in entries.items()]
    return "\n".join(parts)


def render_reaches(races: Mapping[str, Race], measure: Measure) -> str:
    """Ours beside the best and the quickest peer, problem by problem."""
    rows = [row_of_reach(problem, race, measure) for problem, race in races.items()]
    return f"{measure.title.capitalize()}, {measure.direction}:\n\n{page.markdown(rows)}\n"


def row_of_reach(problem: str, race: Race, measure: Measure) -> Row:
    """A problem in a row."""
    found, allowed = reach(race, measure), allowed_share(race)
    return {
        "problem": problem,
        "best peer": f"{found.goal:.4f}, {found.leader}",
        "its s": seconds_text(found.leader_seconds),
        "quickest peer": found.quickest,
        "its s ": seconds_text(found.quickest_seconds),
        "ours": f"{found.ours:.4f}",
        "as good after, s": seconds_text(found.ours_seconds),
        "/ quickest": ratio_text(found.ratio),
        "/ best": ratio_text(found.ratio_to_leader),
        "allowed": f"{allowed:.3g}",
        "": "reached" if found.ratio <= allowed else "**missed**",
    }


def render_final(races: Mapping[str, Race]) -> str:
    """Balanced accuracy at the end, problem by problem."""
    rows = [row_of_final(problem, race) for problem, race in races.items()]
    return f"Balanced accuracy after the last round, {ACCURACY.direction}:\n\n{page.markdown(rows)}\n"


def row_of_final(problem: str, race: Race) -> Row:
    """A problem in a row."""
    lasts = {name: final(entry, ACCURACY) for name, entry in peers_of(race).items()}
    leader = max(lasts, key=lambda name: lasts[name])
    return {
        "problem": problem,
        "best peer": f"{lasts[leader]:.4f}, {leader}",
        "ours": f"{final(race[OURS], ACCURACY):.4f}",
        "shortfall of ours": f"{shortfall(race):+.4f}",
        "any peer after any round": f"{max(best(entry, ACCURACY) for entry in peers_of(race).values()):.4f}",
        "ours after any round": f"{best(race[OURS], ACCURACY):.4f}",
    }


def render_problem(problem: str, curves: Mapping[str, Entry], folder: str) -> str:
    """The picture of a problem, and what everybody reached in it."""
    race = with_figures(curves)
    if not race:
        return f"### {problem}\n\nLeft out: {'; '.join(sorted({entry['left_out'] for entry in curves.values()}))}.\n"
    one = next(iter(race.values()))
    parts = [
        f"### {problem}",
        f"{one['n_classes']} classes, {one['n_train']} rows to learn from, {one['n_test']} held out.",
        f"![Curves of {problem}]({folder}/{problem}.svg)",
        page.markdown([row_of_method(each.name, race) for each in ITERATIVE if each.name in race]),
        " ".join(notes_on(curves)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def row_of_method(name: str, race: Race) -> Row:
    """A method in a row."""
    entry = race[name]
    row = {"": f"**{name}**" if name == OURS else name, "rounds": str(entry["rounds"][-1])}
    row["s"] = seconds_text(entry["seconds"][-1])
    for measure in MEASURES:
        value = best(entry, measure)
        row[measure.title] = f"{value:.4f}, {seconds_text(seconds_to_best(entry, measure))}"
        if name != OURS and OURS in race:
            row[measure.title] += f", {seconds_text(seconds_to(race[OURS], measure, value))}"
    return row


def notes_on(curves: Mapping[str, Entry]) -> list[str]:
    """Who ended early, who is missing, and when the machine was busy."""
    race = with_figures(curves)
    remarks = {
        "Ended early": [f"{name} ({one['why_stopped']})" for name, one in race.items() if one["why_stopped"]],
        "Left out": [f"{name} ({one['left_out']})" for name, one in curves.items() if "left_out" in one],
        "Other programs ran meanwhile, so do not trust the times of": [
            name for name, one in race.items() if one["disturbance"] > MUCH_DISTURBED
        ],
    }
    return [f"{words}: {', '.join(names)}." for words, names in remarks.items() if names]


def seconds_text(seconds: float) -> str:
    """Seconds in two digits or more."""
    if math.isinf(seconds):
        return "never"
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


def ratio_text(ratio: float) -> str:
    """A ratio in two digits."""
    return "–" if math.isinf(ratio) else f"{ratio:.2g}"


def write_csv(entries: Entries, path: Path) -> None:
    """All stages of all curves."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["problem", "method", "round", "seconds", *(measure.key for measure in MEASURES)])
        for problem, curves in entries.items():
            for method, entry in with_figures(curves).items():
                columns = entry["rounds"], entry["seconds"], *(entry["figures"][one.key] for one in MEASURES)
                writer.writerows([problem, method, *stage] for stage in zip(*columns, strict=True))
