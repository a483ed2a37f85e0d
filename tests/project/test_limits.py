"""Limits on what a reader must hold in the head: functions of a fit, modules of a package."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import comboost

PACKAGE = Path(comboost.__file__).parent
TRACE = Path(__file__).parents[2] / "tools" / "trace_calls.py"
COUNTS = re.compile(r"^(.*)\.(\w+): (\d+) functions in (\d+) modules$", flags=re.MULTILINE)
MAX_CALLS = {"fit": (133, 19), "predict": (25, 6)}  # functions, modules
MAX_SEARCHED = (176, 21)  # of a fit that searches for its settings
MAX_MODULES = 14  # of a package, its sub-packages aside


def test_first_fit_and_predict_run_few_functions_in_few_modules():
    printed = subprocess.run([sys.executable, str(TRACE)], capture_output=True, text=True, check=True).stdout
    counts = COUNTS.findall(printed)
    assert len(counts) == 8
    for model, method, n_functions, n_modules in counts:
        searches = (model, method) == ("ConfusionBoostingClassifier(n_estimators=5)", "fit")
        most_functions, most_modules = MAX_SEARCHED if searches else MAX_CALLS[method]
        assert int(n_functions) <= most_functions, printed
        assert int(n_modules) <= most_modules, printed


def test_no_package_has_too_many_modules():
    modules = Counter(path.parent for path in PACKAGE.rglob("*.py") if path.stem not in ("__init__", "__main__"))
    sizes = {str(folder.relative_to(PACKAGE.parent)): n for folder, n in modules.items()}
    assert {folder: n for folder, n in sizes.items() if n > MAX_MODULES} == {}
