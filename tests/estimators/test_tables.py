"""A parameter is declared once: signature, validation, docstring, clone, warm start and Dask variant follow."""

import inspect
import io
import pickle
import pydoc
import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest
from boosters import make_rows
from models import CLASSIFIERS
from sklearn.base import clone

from comboost import ConfusionBoostingClassifier
from comboost._boosting.monitor import NoCallback
from comboost._estimators.confusion import ConfusionSettings
from comboost._estimators.parameters import BoosterSettings, MemorySettings, constructor, integer, parameter
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier
from comboost.dask import DaskAdaBoostMMClassifier, DaskCoMBoClassifier, DaskConfusionBoostingClassifier
from comboost.dask._classifier import ClusterSettings

DASK = [DaskCoMBoClassifier, DaskAdaBoostMMClassifier, DaskConfusionBoostingClassifier]
ESTIMATORS = [*CLASSIFIERS.values(), *DASK, AdaBoostNCClassifier, SMOTEBoostClassifier]


# Edit 1: declare the parameter in a table. Edit 2, not shown: use it.


@dataclass(frozen=True, kw_only=True)
class FamilySettings(ConfusionSettings):
    """A family with one more parameter."""

    patience: int = parameter(
        3, integer(1, 9), kind="boosting", after="n_estimators", doc="Rounds to wait. Larger values take longer."
    )


# In the package these classes exist; here they take the place of those of the family.


@dataclass(frozen=True, kw_only=True)
class FamilyMemorySettings(FamilySettings, MemorySettings):
    """In memory."""


@dataclass(frozen=True, kw_only=True)
class FamilyClusterSettings(ClusterSettings, FamilySettings):
    """On a cluster."""


class Patient(ConfusionBoostingClassifier):
    """An estimator with one more parameter.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    """

    @constructor(FamilyMemorySettings)
    def __init__(self): ...


class DaskPatient(DaskConfusionBoostingClassifier):
    """The same on a cluster.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    """

    _local = Patient

    @constructor(FamilyClusterSettings)
    def __init__(self): ...


@pytest.mark.parametrize("estimator", [Patient, DaskPatient])
def test_declared_parameter_is_in_signature_and_docstring(estimator):
    parameters = inspect.signature(estimator).parameters
    assert list(parameters)[:3] == ["n_estimators", "patience", "learning_rate"]
    assert parameters["patience"].default == 3
    assert "patience : int, default=3\n    Rounds to wait. Larger values take longer." in estimator.__doc__


def test_declared_parameter_is_validated_cloned_and_compared_by_a_warm_start():
    X, y = make_rows(60, 0)
    model = Patient(patience=5, n_estimators=2, warm_start=True)
    assert clone(model).patience == 5
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    with pytest.raises(ValueError, match="Patient got patience=10; give an integer from 1 to 9"):
        Patient(patience=10).fit(X, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match="patience changed since the earlier fit"):
        model.set_params(patience=6).fit(X, y)


def test_declared_parameter_is_part_of_the_dask_variant():
    on_dask = DaskPatient(patience=np.int8(7), timeout=30)
    assert on_dask._settings().patience == 7
    assert on_dask.to_local().get_params() == Patient(patience=7).get_params()
    with pytest.raises(ValueError, match="DaskPatient got patience=0"):
        DaskPatient(patience=0)._settings()


# All estimators


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_signature_docstring_and_parameters_are_those_of_the_table(estimator):
    declared = estimator._table.declared()
    assert list(inspect.signature(estimator).parameters) == list(declared)
    assert estimator().get_params(deep=False) == {name: known.default for name, known in declared.items()}
    assert vars(estimator()).keys() == declared.keys()
    for known in declared.values():
        assert known.entry in estimator.__doc__
        assert known.doc.endswith(".")
        known.rule.read("", known.name, known.default)


@pytest.mark.parametrize("estimator", [*CLASSIFIERS.values(), *DASK])
def test_parameters_of_all_boosters_are_in_every_booster(estimator):
    shared = BoosterSettings.declared()
    assert shared.keys() <= estimator._table.declared().keys()
    assert all(estimator._table.declared()[name].kind == known.kind for name, known in shared.items())


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_attribute_looks_like_a_parameter_of_another_estimator(estimator):
    everywhere = {name for each in ESTIMATORS for name in each._table.declared()}
    foreign = everywhere - estimator._table.declared().keys()
    assert foreign
    assert not [name for name in foreign if hasattr(estimator(), name) or hasattr(estimator, name)]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_help_shows_every_parameter(estimator):
    output = io.StringIO()
    pydoc.Helper(output=output).help(estimator)
    assert all(f"{name} : " in output.getvalue() for name in estimator._table.declared())


def test_parameters_work_without_docstrings():
    program = (
        "import inspect, pickle; from comboost import CoMBoClassifier as C; from sklearn.base import clone;"
        "m = C(n_estimators=3).fit([[1.0], [2.0]], [0, 1]); assert C.__doc__ is None or 'Parameters' in C.__doc__;"
        "print(clone(m).n_estimators, pickle.loads(pickle.dumps(m)).n_estimators, len(inspect.signature(C).parameters))"
    )
    done = subprocess.run([sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "3", str(len(CLASSIFIERS["combo"]._table.declared()))]


def test_settings_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        ConfusionBoostingClassifier()._settings().n_estimators = 3


# No parameter changes during a fit


class Recorder(NoCallback):
    """Records the parameters of every estimator that it sees."""

    def __init__(self):
        self.seen = []

    def setup(self, estimator, context):
        self.seen.append(estimator.get_params(deep=False))

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(estimator.get_params(deep=False))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.seen.append(estimator.get_params(deep=False))
        if fitted_estimator is not None:
            self.seen.append(fitted_estimator.get_params(deep=False))
            fitted_estimator.predict_proba(np.zeros((1, 4)))

    def teardown(self, estimator, context):
        self.seen.append(estimator.get_params(deep=False))

    def __call__(self, model, X, y):
        self.seen.append(model.get_params(deep=False))
        return float(model.predict_proba(X).max())


@pytest.mark.parametrize("algorithm", CLASSIFIERS)
@pytest.mark.parametrize("calibration", ["temperature", "isotonic"])
def test_callbacks_and_scorers_see_the_very_parameters_that_were_given(algorithm, calibration):
    X, y = make_rows(60, 0)
    recorder = Recorder()
    given = {
        "n_estimators": np.int8(3),
        "learning_rate": np.float32(0.5),
        "early_stopping": np.bool_(True),
        "refit": True,
        "scoring": recorder,
        "calibration": calibration,
        "random_state": np.random.RandomState(0),
    }
    model = CLASSIFIERS[algorithm](**given).set_callbacks(recorder)
    model.fit(X, y)
    assert len(recorder.seen) > 8
    for seen in [*recorder.seen, model.get_params(deep=False)]:
        assert all(seen[name] is value for name, value in given.items())
