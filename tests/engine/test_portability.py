"""Systems that are not at hand: what only POSIX has is hidden, and the package works without it."""

import subprocess
import sys

WITHOUT_POSIX = """
import importlib, os, pkgutil, signal, sys

def import_all():
    import comboost
    for module in pkgutil.walk_packages(comboost.__path__, "comboost."):
        importlib.import_module(module.name)

import_all()  # and with it other packages, which know their systems
for name in [name for name in sys.modules if name.startswith("comboost") and name != "comboost._core"]:
    del sys.modules[name]
for name in ("fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios"):
    sys.modules[name] = None
for module, names in {
    os: ("fork", "getuid", "geteuid", "killpg", "mkfifo", "register_at_fork", "sched_getaffinity", "sysconf", "uname"),
    signal: ("SIGALRM", "SIGHUP", "SIGKILL", "alarm", "pthread_sigmask", "setitimer"),
}.items():
    for name in names:
        delattr(module, name)
import_all()

import numpy as np
from comboost import CoMBoClassifier, load_model
from comboost.study._running import interrupts_blocked
X = np.random.default_rng(0).normal(size=(200, 3))
model = CoMBoClassifier(n_estimators=3, n_jobs=2).fit(X, X[:, 0] > 0)
model.save_model(sys.argv[1])
with interrupts_blocked():
    assert (load_model(sys.argv[1]).decision_function(X) == model.decision_function(X)).all()
"""


def test_every_module_is_imported_and_a_model_fitted_and_stored_without_posix(tmp_path):
    command = [sys.executable, "-c", WITHOUT_POSIX, tmp_path / "model"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
