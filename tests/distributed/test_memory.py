"""Memory that is planned for a fit on a cluster: that of the local fit, but every tree has the leaves of all rows."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from strategies import tree_limits

from comboost._distributed.memory import client_uses, worker_uses
from comboost._engine.memory_plan import FitShape, HeldShape, TableCopies

shapes = st.builds(
    FitShape, st.integers(1, 10**9), st.integers(1, 1000), st.integers(2, 2000), st.integers(2, 10**5), tree_limits
)


def total(uses):
    return sum(uses.values())


@given(shapes)
def test_rows_of_a_worker_take_what_they_take_in_a_local_fit(shape):
    local, worker = shape.parts()["samples"], worker_uses(shape, shape.n_samples)
    assert all(worker[use] >= local[use] for use in local)
    assert total(worker) <= total(shape.peak()) + local["codes"]


@given(shapes, st.data())
def test_trees_take_the_same_on_every_worker_however_few_rows_it_has(shape, data):
    n_samples = data.draw(st.integers(0, shape.n_samples))
    needed = total(worker_uses(shape, n_samples))
    parts = shape.parts()
    assert needed >= max(total(parts["leaf values"]), 2 * total(parts["trees"]))
    assert needed <= total(worker_uses(shape, shape.n_samples))


@given(shapes, st.integers(1, 10**8))
def test_rows_to_validate_on_take_memory_of_the_client_alone(shape, n_held):
    validated = replace(shape, held=HeldShape(TableCopies(n_held, shape.n_features)))
    assert worker_uses(validated, shape.n_samples) == worker_uses(shape, shape.n_samples)
    assert total(client_uses(validated)) >= total(client_uses(shape)) + n_held * shape.n_classes * 8
