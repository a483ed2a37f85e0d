"""Print the nox sessions that a change needs beside the usual ones, chosen by the paths that it touches.

``.ci/run`` always runs lint, types, the test suite, the native tests under the sanitizers and one minute of fuzzing.
The sessions of `GUARDED` are slower and guard some paths only: they run if the change touches one of them.
``nox -s full`` runs all of them.

The change is what differs from COMBOOST_CI_BASE if that is set. Otherwise it starts where the branch left origin/main;
on main itself, it is the last day of commits. Without a base, every session is selected.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase

DAY = 24 * 60 * 60  # seconds

CORE = ("cpp/*", "bindings/*", "CMakeLists.txt", "CMakePresets.json")
CI = (".ci/*", "noxfile.py", "tools/select_checks.py")
PACKED = tuple(f"src/comboost/*.{ending}" for ending in ("gz", "rst", "jinja", "js", "css", "json", "typed"))

#: Session: patterns of the paths that it guards. A ``*`` also matches slashes. Sessions run in this order.
GUARDED = {
    "tidy": (*CORE, *CI, ".clang-tidy"),
    "native(tsan)": (*CORE, *CI),
    "native(clang)": (*CORE, *CI),
    "clang": (*CORE, *CI, "tests/golden/*"),
    "wheel": (*CORE, *CI, *PACKED, "pyproject.toml", "LICENSE"),
    "installed": (*CORE, *CI, *PACKED, "pyproject.toml", "src/comboost/_extras.py"),
    "fuzz(asan)": (*CORE, *CI, "fuzz/*", "src/comboost/_persistence/*"),
    "oldest": (
        *CI,
        "pyproject.toml",
        "src/comboost/_extras.py",
        *(f"src/comboost/{package}/*" for package in ("_data", "_export", "onnx", "displays", "dask", "baselines")),
    ),
    "docs": (
        *CI,
        "docs/*",
        "examples/*",
        "tools/check_links.py",
        "pyproject.toml",
        "src/comboost/__init__.py",
        "src/comboost/[!_]*/__init__.py",
    ),
}

#: The wheel of one session is what others test.
NEEDS = {"installed": "wheel"}


def select(paths: Iterable[str] | None) -> list[str]:
    """Sessions that guard one of the changed paths; all of them if the change is unknown."""
    if paths is None:
        return list(GUARDED)
    changed = list(paths)
    chosen = {
        session
        for session, patterns in GUARDED.items()
        if any(fnmatchcase(path, pattern) for path in changed for pattern in patterns)
    }
    chosen |= {NEEDS[session] for session in chosen if session in NEEDS}
    return [session for session in GUARDED if session in chosen]


def git(*arguments: str) -> str | None:
    """Output of a git command; None if it fails."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def find_base() -> str | None:
    """Commit that the change starts from; None if there is none, as in a shallow clone."""
    if given := os.environ.get("COMBOOST_CI_BASE"):
        base = git("rev-parse", "--verify", "--quiet", f"{given}^{{commit}}")
        if base is None:
            raise SystemExit(f"COMBOOST_CI_BASE is {given!r}, which is not a commit of this repository.")
        return base
    base = git("merge-base", "origin/main", "HEAD")
    if base and base != git("rev-parse", "HEAD"):
        return base
    committed = git("log", "-1", "--format=%ct", "HEAD")
    return (git("rev-list", "-1", f"--before={int(committed) - DAY}", "HEAD") or None) if committed else None


def changed_paths() -> list[str] | None:
    """Paths that differ from the base, uncommitted changes included; None if there is no base."""
    base = find_base()
    listed = git("diff", "--name-only", "--no-renames", base) if base else None
    return None if listed is None else listed.splitlines()


if __name__ == "__main__":
    paths = changed_paths()
    reason = "no base, so everything" if paths is None else f"{len(paths)} changed paths"
    print(f"{reason}: {', '.join(select(paths)) or 'nothing'} beside the usual checks", file=sys.stderr)
    print(*select(paths), sep="\n")
