"""The report. In: stored folds. Out: all figures, tables and verdicts as one plain dict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from comboost import __version__
from comboost.study._paper import read_paper
from comboost.study._results import Results
from comboost.study._study import Study
from comboost.study._tables import make_tables, make_times
from comboost.study._verdicts import count_by_setting, list_claims, list_verdicts


def make_report(
    results: Iterable[dict[str, Any]],
    study: Study,
    *,
    datasets: Sequence[str],
    n_runs: int,
    left_out: Mapping[str, str] | None = None,
    failures: Sequence[str] = (),
) -> dict[str, Any]:
    """Make the report of what is stored.

    Parameters
    ----------
    results : iterable of dict
        From `run_task`.
    study : Study
        The numbers of the experiment.
    datasets : sequence of str
        The data sets asked for.
    n_runs : int
        How many runs were asked for.
    left_out : mapping of str to str, default=None
        Data sets and methods that could not run, and why.
    failures : sequence of str, default=()
        Folds that have no result, and why.

    Returns
    -------
    dict
        With the entries about, tables, verdicts, claims, by_setting and times. All but times depend on the seeds alone,
        not on how many processes worked or how often they were killed.

    Examples
    --------
    >>> from comboost.study import Study, Task, make_report, run_task
    >>> study = Study(n_rounds=5)
    >>> folds = [run_task(Task("new-thyroid", "CoMBo depth 2 gini", 0, fold), study) for fold in range(5)]
    >>> report = make_report(folds, study, datasets=["new-thyroid"], n_runs=1)
    >>> list(report["tables"])
    ['distributions', 'rivals', 'mm', 'connect', 'settings', 'recalls', 'confusions']
    """
    paper, gathered = read_paper(), Results(results, study.n_folds)
    return {
        "about": {
            "comboost": __version__,
            **asdict(study),
            "n_runs": n_runs,
            "datasets": list(datasets),
            "left_out": dict(left_out or {}),
            "failures": list(failures),
            "paper": {"source": paper["source"], "notes": paper["notes"]},
        },
        "tables": make_tables(gathered, paper, datasets),
        "verdicts": list_verdicts(gathered, paper),
        "claims": list_claims(gathered, paper),
        "by_setting": count_by_setting(gathered, paper),
        "times": make_times(gathered, datasets),
    }
