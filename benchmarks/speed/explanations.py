"""Cases about explanations: exact SHAP values by the paths through the trees, of many rows at once.

All models have as many rounds, and trees of the same depth and leaves. Ours grow one tree a round, whose leaves vote
for one class or for every class; LightGBM and XGBoost grow one for every class.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from benchmarks._lib.comparison import Plan
from benchmarks._lib.peers import OUR_KINDS, CatBoost, LightGBM, XGBoost
from benchmarks._lib.timing import take_turns, timed
from benchmarks._lib.verdicts import Figure, Outcome, Target, compare, open_outcome
from benchmarks.speed.prediction import Predictor, Training, models_of

N_EXPLAINED = 500  # rows
KINDS = (*OUR_KINDS, LightGBM, XGBoost, CatBoost)


@dataclass(frozen=True)
class ExplanationCase:
    """Rows per second, on one thread and on all of them."""

    name: str
    training: Training
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        training = self.training
        trees = f"depth {training.max_depth}, {training.n_leaves} leaves"
        return f"explanations, {training.n_rounds} rounds, {trees}, {plan.scale(training.problem).name}"

    def run(self, plan: Plan) -> Outcome:
        """Explain some rows with all libraries."""
        outcome, kinds = open_outcome("thousand rows per second", KINDS)
        problem = plan.scale(self.training.problem)
        training = replace(
            self.training, problem=problem, n_samples=min(self.training.n_samples, problem.n_samples // 4)
        )
        X = problem.load()[0][:N_EXPLAINED]
        threads = sorted({1, plan.n_threads})
        models = {kind.name: models_of(kind, training, plan.n_threads)[0] for kind in kinds}
        entrants = {
            f"{name}, {n_threads} threads": Predictor(*model, n_threads)
            for name, model in models.items()
            for n_threads in threads
        }

        def explain(one: Predictor) -> float:
            return timed(lambda: one.library.contributions(one.model, X, one.n_threads), one.n_threads)[0]

        seconds = outcome.keep(
            take_turns({name: partial(explain, one) for name, one in entrants.items()}, plan.repeats)
        )
        outcome.raw |= seconds
        for name, times in seconds.items():
            one = entrants[name]
            outcome.figures.append(Figure(name, len(X) / min(times) / 1e3, one.variant, one.learning))
        for ours, n_threads in product(OUR_KINDS, threads):
            pair = (outcome.figure(f"{kind.name}, {n_threads} threads") for kind in (ours, LightGBM))
            outcome.verdicts.append(compare(f"{ours.name} / LightGBM, {n_threads} threads", self.target, *pair))
        return outcome
