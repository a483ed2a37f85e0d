"""Memory that is planned for a fit on a cluster: that of the local fit, but every tree has the leaves of all rows."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from comboost._engine.memory import TreeLimits, footprint
from comboost.dask._memory import FitShape

limits = st.builds(TreeLimits, st.none() | st.integers(1, 40), st.none() | st.integers(2, 1000), st.integers(0, 500))
shapes = st.builds(
    FitShape, st.integers(1, 10**9), st.integers(1, 1000), st.integers(2, 2000), st.integers(2, 10**5), limits
)


@given(shapes)
def test_worker_with_all_rows_takes_what_the_local_fit_takes(shape):
    local = footprint(shape.n_rows, shape.n_features, shape.n_classes, shape.n_bins, shape.limits)
    assert shape.worker_bytes(shape.n_rows) == sum(local.values())


@given(shapes, st.data())
def test_trees_take_the_same_on_every_worker_however_few_rows_it_has(shape, data):
    n_rows = data.draw(st.integers(1, shape.n_rows))
    of_rows = replace(shape, limits=replace(shape.limits, n_voting=0))
    of_trees = shape.worker_bytes(n_rows) - of_rows.worker_bytes(n_rows)
    assert of_trees == shape.worker_bytes(shape.n_rows) - of_rows.worker_bytes(shape.n_rows)
    assert 0 <= of_trees <= shape.client_bytes()
