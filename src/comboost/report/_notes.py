"""What a reader should know first. In: a `Trial`, the heart of the model. Out: sentences on what may mislead."""

import numpy as np

from comboost.metrics._measures import confusion_of
from comboost.report._heart import Heart
from comboost.report._trial import Trial
from comboost.report._wording import class_in_sentence, counted, joined, joined_classes

FEW_ROWS_OF_A_CLASS = 10
SAME_SHARE = 1e-9  # shares of the same rows differ by no more


def note_all(trial: Trial, heart: Heart) -> list[str]:
    """All that there is to note."""
    notes = [*note_training_rows(trial, heart), *note_unknown(trial), *note_untested(trial)]
    notes += [*note_few_rows(trial), *note_rejected(trial)]
    return notes


def note_training_rows(trial: Trial, heart: Heart) -> list[str]:
    """Say that figures flatter, if the rows look like those of training."""
    if not looks_trained_on(trial, heart):
        return []
    return [
        "These rows look like the ones that the model was trained on: as many, with the same share of every class and "
        "the same confusions. Figures of such rows flatter; give rows that it has not seen."
    ]


def looks_trained_on(trial: Trial, heart: Heart) -> bool:
    """Whether rows, classes and confusions are those of training."""
    booster = heart.booster
    if booster is None or not hasattr(booster, "class_prior_"):
        return False
    origin = vars(booster).get("_origin")
    if origin is None or origin.n_rows != len(trial.truth):
        return False
    known = trial.answerers[0].known
    shares = trial.sizes[known] / len(trial.truth)
    confusion = confusion_of(trial.counts[0])[np.ix_(known, known)]
    return bool(
        np.allclose(shares, booster.class_prior_, rtol=0.0, atol=SAME_SHARE)
        and np.allclose(confusion, booster.train_confusion_, rtol=0.0, atol=SAME_SHARE)
    )


def note_unknown(trial: Trial) -> list[str]:
    """Say which classes of the rows a model has never learned."""
    notes = []
    for answerer in trial.answerers:
        unknown = np.setdiff1d(np.flatnonzero(trial.sizes), answerer.known)
        if unknown.size:
            n_rows, names = int(trial.sizes[unknown].sum()), [trial.names[place] for place in unknown.tolist()]
            notes.append(
                f"{answerer.name} does not know {joined_classes(names)}, so it cannot find the "
                f"{counted(n_rows, 'row')} of {'it' if len(names) == 1 else 'them'}: these count as mistakes."
            )
    return notes


def note_untested(trial: Trial) -> list[str]:
    """Say which classes have no rows, and that one class alone tells little."""
    sizes = trial.sizes
    absent = [trial.names[place] for place in np.flatnonzero(sizes == 0).tolist()]
    notes = []
    if absent:
        notes.append(
            f"There are no rows of {joined_classes(absent)}: nothing is said of what is found of such a class."
        )
    if np.count_nonzero(sizes) == 1:
        notes.append("All rows are of one class: what other classes are taken for is not seen.")
    return notes


def note_few_rows(trial: Trial) -> list[str]:
    """Say which classes have so few rows that their recalls say little."""
    sizes = trial.sizes
    few = [place for place in np.argsort(sizes, kind="stable").tolist() if 0 < sizes[place] < FEW_ROWS_OF_A_CLASS]
    if not few:
        return []
    told = [f"{class_in_sentence(trial.names[place])} ({int(sizes[place])})" for place in few]
    what = counted(len(few), "class has", "classes have")
    recalls = "its recall says" if len(few) == 1 else "their recalls say"
    return [f"{what} fewer than {FEW_ROWS_OF_A_CLASS} rows, so that {recalls} little: {joined(told)}."]


def note_rejected(trial: Trial) -> list[str]:
    """Say how many rows a model leaves to somebody else."""
    notes = []
    for answerer in trial.answerers:
        n_rejected = int((answerer.places == len(trial.classes)).sum())
        if n_rejected:
            share = n_rejected / len(trial.truth)
            notes.append(
                f"{answerer.name} rejects {counted(n_rejected, 'row')} of {len(trial.truth):,} ({100 * share:.3g} %): "
                "they are taken for no class, and count as not found."
            )
    return notes
