"""What travels between the client and the shards arrives as the core wants it: at aligned addresses."""

import dataclasses
import pickle

import numpy as np
import pytest

from comboost import CoMBoClassifier, ConfusionBoostingClassifier, _core
from comboost._distributed.quantiles import EdgeSearch
from comboost._distributed.steps import (
    ConfusionStep,
    CountStep,
    ShardState,
    SplitStep,
    SumLeavesStep,
    UpdateResult,
    UpdateStep,
    add,
    pack,
    pack_result,
    unpack,
    unpack_result,
)
from comboost._engine.binning import BinMapper
from comboost._engine.losses import Loss
from comboost._engine.rows import LeafFactors, ShardRows, TreeRules, make_grower
from comboost._types import CODE, LABEL, SUM

FOREST = CoMBoClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0]], [0, 1, 2])._forest
VALUED_FOREST = ConfusionBoostingClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0]], [0, 1, 2])._forest
TREE, VALUED_TREE = FOREST.tree(0), VALUED_FOREST.tree(0)
FACTORS = LeafFactors(*_core.exponentiate(VALUED_TREE.leaf_values)[1:4])
SPLITS = np.arange(6, dtype=np.int32).reshape(2, 3)
SUMS = np.arange(6, dtype=SUM).reshape(1, 2, 3)
STEPS = [
    UpdateStep(TREE, LeafFactors(np.array([2.0]), np.array([0.5]), 2.0), 4, with_root=True),
    SplitStep(SPLITS),
    CountStep(SPLITS[0]),
    ConfusionStep(TREE),
    ConfusionStep(FOREST),
    ConfusionStep(VALUED_FOREST),
    UpdateStep(VALUED_TREE, FACTORS, 4, with_root=True),
    SumLeavesStep(VALUED_TREE, pairs=True),
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


@pytest.mark.parametrize("result", [None, SUMS, UpdateResult(7, 0.5, None, 3), UpdateResult(7, 0.5, SUMS, 3)])
def test_result_is_the_same_after_unpacking(result):
    arrived = unpack_result(pickle.loads(pickle.dumps(pack_result(result))))
    assert type(arrived) is type(result)
    assert pickle.dumps(arrived) == pickle.dumps(result)


def test_sums_of_a_result_are_aligned_at_any_address():
    packed = pack_result(SUMS)
    arrived = unpack_result(packed._replace(sums=packed.sums._replace(packed=moved(packed.sums.packed))))
    assert arrived.flags.aligned
    assert arrived.flags.writeable
    np.testing.assert_array_equal(arrived, SUMS)


def test_request_is_aligned_wherever_it_arrives():
    request = EdgeSearch([0, 1], 2, 255).request
    arrived = dataclasses.replace(
        request, lows=moved(request.lows), highs=moved(request.highs), starts=moved(request.starts)
    )
    for name in ("lows", "highs", "shifts", "starts"):
        aligned = getattr(arrived.aligned(), name)
        assert aligned.flags.aligned
        np.testing.assert_array_equal(aligned, getattr(request, name))


def test_results_add_up_over_samples():
    sums = np.arange(6, dtype=SUM)
    whole = add(UpdateResult(7, 0.5, sums, 3), UpdateResult(2, 0.75, 2 * sums, 4))
    assert (whole.loss, whole.largest, whole.log_loss) == (9, 0.75, 7)
    np.testing.assert_array_equal(whole.root, 3 * sums)


def binned_rows():
    """Rows of two features with four bins each."""
    random = np.random.default_rng(0)
    codes, labels = random.integers(4, size=(2, 50)).astype(CODE), random.integers(3, size=50).astype(LABEL)
    bins = BinMapper.of([np.arange(3.0)] * 2, np.zeros(2, dtype=np.uint8))
    grower = make_grower(bins, 3, TreeRules(3, "gini", 2, 0.0, 2, 0))
    return ShardRows(labels, None, Loss(np.ones((3, 3)) - np.eye(3), None, 0), codes, grower, 1)


def split_of(node, feature, last_left):
    """A split as the core takes it: codes up to the last one go left."""
    return np.array([[node, feature, last_left, *[0] * 8]], dtype=np.int32)


@pytest.mark.parametrize("n_kept", [0, 2, 3, 100])
def test_split_returns_its_left_child_whatever_histograms_were_kept(monkeypatch, n_kept):
    shard = ShardState(binned_rows(), best_first=True)
    root = UpdateStep(None, None, 20, with_root=True).run(shard).root
    monkeypatch.setattr("comboost._distributed.steps.HISTOGRAM_BUDGET", n_kept * root.nbytes)
    for split in (split_of(0, 0, 1), split_of(2, 1, 0), split_of(1, 1, 2), split_of(4, 0, 2)):
        left = shard.n_nodes
        result = SplitStep(split).run(shard)
        np.testing.assert_array_equal(result, shard.rows.count(np.array([left], dtype=np.int32)))
        assert len(shard.histograms) <= n_kept
