"""Estimators from options and assignments, checked by the table of parameters."""

import pytest

from comboost import CoMBoClassifier
from comboost.cli.jobs.rounds import searches
from comboost.cli.jobs.settings import ESTIMATORS, Settings, make_estimator, read_assignment
from comboost.cli.terminal.errors import CommandError, one_line, some_names
from comboost.cli.terminal.options import NOT_SEARCHED
from comboost.cli.terminal.progress import format_time
from comboost.datasets import load_new_thyroid


def test_options_override_assignments():
    made = make_estimator(Settings("combo", ["max_depth=2", "n_estimators=9"], options={"n_estimators": 50}))
    assert type(made) is CoMBoClassifier
    assert (made.max_depth, made.n_estimators, made.random_state) == (2, 50, 0)


def test_without_search_settings_are_fixed_unless_given():
    made = make_estimator(Settings(None, ["smoothing=7"], options={"n_estimators": 20}, defaults=NOT_SEARCHED))
    assert (made.smoothing, made.max_depth, made.learning_rate, made.n_estimators) == (7, 5, 0.3, 20)
    assert not searches(made)
    others = make_estimator(Settings("combo", defaults=NOT_SEARCHED))
    assert others.get_params() == CoMBoClassifier(random_state=0).get_params()


@pytest.mark.parametrize(
    ("assignments", "expected"),
    [
        ((), True),
        (("smoothing=1",), True),
        (("max_depth=3",), True),
        (("max_leaf_nodes=8",), True),
        (("smoothing=1", "max_depth=3"), False),
        (("smoothing=1", "max_leaf_nodes=8"), False),
    ],
)
def test_a_search_is_announced_if_the_fit_searches(assignments, expected):
    made = make_estimator(Settings(None, [*assignments, "n_estimators=2"]))
    assert searches(made) == expected
    X, y = load_new_thyroid(return_X_y=True)
    assert bool(made.fit(X, y).search_results_) == expected


@pytest.mark.parametrize(
    ("text", "value"), [("a=0.5", 0.5), ("a=log", "log"), ("a=true", True), ("a = [1, 2]", [1, 2])]
)
def test_values_are_toml_or_text(text, value):
    assert read_assignment(text) == ("a", value)


@pytest.mark.parametrize(("begin", "middle", "end"), [("[", "", "]"), ("{a=", "1", "}"), ("[", "", "")])
def test_deeply_nested_values_are_refused_in_a_sentence(begin, middle, end, tmp_path):
    value = begin * 20_000 + middle + end * 20_000
    config = tmp_path / "settings.toml"
    config.write_text(f"[parameters]\npriors = {value}\n")
    for settings, seen in (
        (Settings("combo", [f"priors={value}"]), "The value of --set priors="),
        (Settings("combo", config=config), f"The settings {config} are"),
    ):
        with pytest.raises(CommandError, match="nested too deeply; give a number") as caught:
            make_estimator(settings)
        assert str(caught.value).startswith(seen)
        assert len(str(caught.value)) < 300 + len(str(config))


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("name", ["learning_rate", "max_bins", "early_stopping", "calibration", "decision"])
def test_bad_value_names_what_the_rule_allows(kind, name):
    rule = ESTIMATORS[kind]._table.declared()[name].rule
    with pytest.raises(ValueError, match=f"{name}='absurd'; give ") as caught:
        make_estimator(Settings(kind, [f"{name}=absurd"]))
    assert rule.words in str(caught.value)


def test_unknown_name_suggests_the_nearest_ones():
    with pytest.raises(CommandError, match="did you mean 'min_samples_leaf'"):
        make_estimator(Settings("combo", ["min_sample_leaf=3"]))
    with pytest.raises(CommandError, match=r"its parameters are .*learning_rate"):
        make_estimator(Settings("combo", ["xyzzy=3"]))


def test_words_of_messages():
    assert one_line(FileNotFoundError(2, "No such file", "a.csv")) == "No such file: a.csv"
    assert one_line(ValueError("this\nand that")) == "this and that"
    assert some_names(["a", "b"]) == "'a', 'b'"
    assert some_names(range(9)) == "0, 1, 2, 3, 4 and 4 more"
    assert [format_time(n) for n in (42, 4000, 40000)] == ["about 42 s", "about 67 min", "about 11.1 h"]
