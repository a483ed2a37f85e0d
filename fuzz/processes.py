"""A worker process as its parent sees it: takes programs, returns verdicts, survives crashes and hangs."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from fuzz.worker import Verdict

PACKAGES = ("comboost.baselines", "pandas", "polars", "pyarrow", "sklearn.tree", "sklearn.linear_model")
ROOT = Path(__file__).parent.parent
CASES_PER_PROCESS = 1000  # memory that others leak ends with it
STARTING = 120.0  # seconds that the imports of a new process may take
ERRORS = re.compile(r"^(?:=+\d+=+ *ERROR: (.*)|.*(runtime error: .*)|Fatal Python error: (.*))$", re.MULTILINE)


class Worker:
    """A child process that runs programs, made anew whenever it dies, hangs or grows old."""

    def __init__(self, patience: float = 1.0, packages: tuple[str, ...] = PACKAGES) -> None:
        self._packages = packages
        self._patience = patience  # times the limits of the generators: sanitizers are slow
        self._process: subprocess.Popen[bytes] | None = None
        self._n_cases = 0
        self._connection: Any = None
        self._errors: Any = None
        self._output = ""

    def get_ready(self) -> None:
        """Have a child process that has imported what programs need."""
        if self._process is None or self._n_cases >= CASES_PER_PROCESS:
            self.close()
            self._start()
            if not self._connection.poll(STARTING * self._patience):
                self._kill()
                raise RuntimeError(f"a worker process did not start: {self._output or 'it printed nothing'}")
            self._connection.recv()

    def run(self, text: str, seconds: float) -> Verdict:
        """Run a program in the child process, which is ready, and judge it or the end of the process."""
        limit = seconds * self._patience
        self._n_cases += 1
        try:
            self._connection.send(text)
            if not self._connection.poll(limit):
                return self._judge_hang(limit)
            return Verdict(*self._connection.recv())
        except (EOFError, OSError):
            return self._judge_crash()

    def close(self) -> None:
        """End the child process and all that it has started."""
        if self._process is not None:
            self._kill()

    def _start(self) -> None:
        ours, theirs = Pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, closed with the process
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.getenv("PYTHONPATH")]))}
        command = [sys.executable, "-m", "fuzz.worker", str(theirs.fileno()), *self._packages]
        self._process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stderr=self._errors, env=environment, start_new_session=True
        )
        theirs.close()
        self._connection, self._n_cases = ours, 0

    def _kill(self) -> int:
        """Kill the process and its group, and keep its output; return its exit code."""
        assert self._process is not None
        process, self._process = self._process, None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        self._connection.close()
        self._errors.seek(0)
        self._output = self._errors.read().decode(errors="replace")
        self._errors.close()
        return code

    def _judge_hang(self, limit: float) -> Verdict:
        """The verdict on a program that takes too long; the process says where it is before it dies."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGABRT)
        self._connection.poll(5)
        self._kill()
        return Verdict("finding", f"hang: no end after {limit:g} s", self._last_location())

    def _judge_crash(self) -> Verdict:
        """The verdict on a program that has killed its process."""
        assert self._process is not None
        self._process.wait(10)  # or our own signal would count as the reason
        code = self._kill()
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        said = next((next(filter(None, found)) for found in ERRORS.findall(self._output)), "")
        return Verdict("finding", f"crash: {name}{said and ': ' + said}", self._last_location())

    def _last_location(self) -> str:
        """The innermost frame that the dying process named."""
        current = self._output.partition("Current thread")[2] or self._output
        found = re.search(r'File "[^"]*?([^"/]+)", line \d+ in (\w+)', current)
        return f"{found[1]}, {found[2]}" if found else ""
