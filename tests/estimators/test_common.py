"""scikit-learn's own checks, with no failure expected."""

from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier

ESTIMATORS = [
    CoMBoClassifier(n_estimators=20),
    AdaBoostMMClassifier(n_estimators=20),
    CoMBoClassifier(
        n_estimators=20, step="exact", criterion="cost", max_depth=None, max_features="sqrt", proba="vote_fraction"
    ),
    ConfusionBoostingClassifier(n_estimators=20),
    ConfusionBoostingClassifier(
        n_estimators=20, loss="exponential", max_depth=None, max_leaf_nodes=6, max_features="sqrt", balance=0.5
    ),
    CoMBoClassifier(n_estimators=5, estimator=DecisionTreeClassifier(max_depth=2)),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_keeps_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)
