"""The fuzzer itself: planted faults are found, programs repeat them, and a seed and a number make a case."""

import ast
import subprocess
import sys

import pytest

from fuzz.processes import Worker
from fuzz.programs import program
from fuzz.report import Count, Finding, Findings, render
from fuzz.search import GENERATORS, Generator, Search
from fuzz.worker import Verdict, run

VALID = "model = CoMBoClassifier(n_estimators=1)\nfit_or_leave(model, [[0.0], [1.0]], [0, 1])\n"

#: Lines of a program, and how the reason of its verdict begins.
PLANTED = {
    "violated property": (
        VALID + "model.loss_curve_ = model.bound_curve_ * 2\ncheck_fit(model)",
        "violated property: the loss is 2",
    ),
    "label that is none": (VALID + "check_labels(model, [0, None])", "violated property: fit takes None"),
    "changed estimator": (
        "class Careless(CoMBoClassifier):\n"
        "    def fit(self, X, y):\n"
        "        self.n_iter_ = 3\n"
        "        raise ValueError('no')\n"
        "fit_or_leave(Careless(), [[0.0]], [0])",
        "violated property: a call that failed has changed the estimator",
    ),
    "property of a refused fit": (
        "never_refused(fit_or_leave, CoMBoClassifier(), [[0.0]], [0])",
        "violated property: valid samples are refused: ValueError: y holds only one class",
    ),
    "undocumented error": (
        VALID + "model._read = lambda X: {}[0]\nmodel.decision_function([[0.0]])",
        "undocumented kind of error: KeyError",
    ),
    "error from deep inside": (
        VALID + "model.classes_ = 3\nmodel.predict([[0.0]])",
        "error from deep inside: TypeError: object of type 'int' has no len()",
    ),
    "name that is not there": ("nothing_like_it()", "the program itself is wrong: NameError"),
}
REFUSED = "fit_or_leave(CoMBoClassifier(), [[0.0], [1.0]], [0, 0])"


@pytest.mark.parametrize("name", PLANTED)
def test_planted_fault_is_a_finding(name):
    lines, reason = PLANTED[name]
    verdict = run(program(lines))
    assert verdict.status == "finding"
    assert verdict.reason.startswith(reason)


def test_valid_program_passes_and_documented_error_is_a_refusal():
    assert run(program(VALID + "check_fit(model)\ncheck_answers(model, [[0.0], [1.0]])")).status == "passed"
    assert run(program(REFUSED)).status == "refused"


def test_data_refused_by_other_libraries_are_void():
    assert run(program("X = np.array([[1.0], [2.0, 3.0]])")).status == "void"


def test_worker_survives_and_names_crashes_and_hangs():
    worker = Worker(packages=())

    def verdict_on(text, seconds):
        worker.get_ready()
        return worker.run(text, seconds)

    crash = verdict_on("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", 60)
    hang = verdict_on("while True:\n    pass", 0.1)
    sound = verdict_on("assert True", 60)
    worker.close()
    assert [crash.status, hang.status, sound.status] == ["finding", "finding", "passed"]
    assert crash.reason.startswith("crash: SIGSEGV")
    assert hang.reason.startswith("hang: no end after 0.1 s")


def test_printed_program_repeats_the_finding(tmp_path, capsys):
    text = program(PLANTED["violated property"][0])
    findings = Findings(tmp_path)
    finding = Finding("planted", 0, 7, text, run(text))
    assert [findings.add(finding), findings.add(finding._replace(number=8))] == [True, False]
    (path,) = tmp_path.iterdir()
    assert path.read_text() in capsys.readouterr().out
    again = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert again.returncode == 1
    assert finding.verdict.reason.removeprefix("violated property: ") in again.stderr


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
def test_seed_and_number_make_the_case(generator):
    cases = [generator.case(0, number) for number in range(5)]
    assert cases == [generator.case(0, number) for number in range(5)]
    assert len({*cases, *(generator.case(1, number) for number in range(5))}) > 5
    for case in cases:
        ast.parse(case)


def test_every_case_is_counted_once(tmp_path, monkeypatch):
    verdicts = {"a": Verdict("passed"), "b": Verdict("refused"), "c": Verdict("finding", "planted")}
    monkeypatch.setattr(Worker, "get_ready", lambda worker: None)
    monkeypatch.setattr(Worker, "run", lambda worker, text, seconds: verdicts[text])
    generators = [Generator(name, lambda random, name=name: name, 1, 1.0) for name in verdicts]
    search = Search(generators, 0, Findings(tmp_path))
    for generator in generators:
        for number in range(3):
            search.run_one(generator, number)
    assert [count.row[:6] for count in search.counts.values()] == [
        (3, 3, 0, 0, 0, 0),
        (3, 0, 3, 0, 0, 0),
        (3, 0, 0, 0, 3, 1),
    ]
    assert len(search.findings) == 1


def test_table_has_a_line_of_sums():
    counts = {"inputs": Count(cases=5, refused=2, findings=1, different=1, seconds=2.0), "bits": Count(cases=3)}
    *_, last = render(counts, markdown=True).splitlines()
    assert [cell.strip() for cell in last.strip("|").split("|")] == ["all", "8", "5", "2", "0", "1", "1", "2"]
