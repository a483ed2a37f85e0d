"""What travels between the client and the shards arrives as the core wants it: at aligned addresses."""

import dataclasses

import numpy as np
import pytest

from comboost import CoMBoClassifier
from comboost._dtypes import SUM
from comboost._engine.rows import Vote
from comboost.dask._quantiles import EdgeSearch
from comboost.dask._steps import (
    AdvanceAnswer,
    AdvanceStep,
    ConfusionStep,
    CountStep,
    MeasureStep,
    SplitStep,
    align_sums,
    pack,
    unpack,
)

FOREST = CoMBoClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0]], [0, 1, 2])._forest
TREE = FOREST.tree(0)
SPLITS = np.arange(6, dtype=np.int32).reshape(2, 3)
STEPS = [
    AdvanceStep(Vote(TREE, 2.0, 0.5), np.eye(3), 4, with_root=True),
    SplitStep(SPLITS),
    CountStep(SPLITS[0]),
    MeasureStep(TREE),
    ConfusionStep(FOREST),
]


def moved(array):
    """The same array at an odd address, as it may come over a wire."""
    return np.frombuffer(b"." + array.tobytes(), dtype=array.dtype, offset=1).reshape(array.shape)


def arrays_in(value):
    """All arrays inside of a step."""
    if isinstance(value, np.ndarray):
        return [value]
    if dataclasses.is_dataclass(value):
        value = [getattr(value, part.name) for part in dataclasses.fields(value)]
    return [array for part in value for array in arrays_in(part)] if isinstance(value, list | tuple) else []


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
@pytest.mark.parametrize("place", range(8))
def test_arrays_of_a_step_are_aligned_wherever_its_bytes_lie(step, place):
    packed = pack(step)
    arrived = unpack(memoryview(b"." * place + packed)[place:])
    assert type(arrived) is type(step)
    assert pack(arrived) == packed
    assert [array.ctypes.data % 8 for array in arrays_in(arrived)] == [0] * len(arrays_in(step))


def test_sums_of_an_answer_are_aligned_wherever_they_arrive():
    sums = np.arange(6, dtype=SUM).reshape(1, 2, 3)
    assert not moved(sums).flags.aligned
    answer = align_sums(AdvanceAnswer(7, 0.5, moved(sums)))
    for aligned in (align_sums(moved(sums)), answer.root):
        assert aligned.flags.aligned
        np.testing.assert_array_equal(aligned, sums)
    assert (answer.loss, answer.largest) == (7, 0.5)
    assert align_sums(AdvanceAnswer(7, 0.5, None)).root is None
    assert align_sums(None) is None


def test_answers_that_are_aligned_are_not_copied():
    sums = np.arange(6, dtype=SUM)
    assert align_sums(sums) is sums
    assert align_sums(AdvanceAnswer(7, 0.5, sums)).root is sums


def test_question_is_aligned_wherever_it_arrives():
    question = EdgeSearch([0, 1], 2, 255).question
    arrived = dataclasses.replace(
        question, lows=moved(question.lows), highs=moved(question.highs), starts=moved(question.starts)
    )
    for name in ("lows", "highs", "shifts", "starts"):
        aligned = getattr(arrived.aligned(), name)
        assert aligned.flags.aligned
        np.testing.assert_array_equal(aligned, getattr(question, name))
