"""Small native programs of the benchmark. In: C++ files of native_programs. Out: programs, compiled here and now."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from benchmarks._lib.machine import REPOSITORY, has_avx2
from benchmarks._lib.problems import SCRATCH

SOURCES = REPOSITORY / "benchmarks" / "speed" / "native_programs"
# A folder per clone: CMake refuses one that it has used for another.
PROGRAMS = SCRATCH / f"native-{hashlib.sha256(str(REPOSITORY).encode()).hexdigest()[:8]}"
FLAGS = ["-std=c++20", "-O3", "-fopenmp"]


class NativeError(RuntimeError):
    """A tool is missing, or a program cannot be built or run."""


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what went wrong is said in the error."""
    if shutil.which(command[0]) is None:
        raise NativeError(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NativeError(f"{Path(command[0]).name} failed with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done


def build_bare_histogram() -> Path:
    """The bare loop, with the widest vectors that our own kernels use, if the CPU has them."""
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    program = PROGRAMS / "bare_histogram"
    wide = ["-mavx2"] if has_avx2() else []
    run("c++", *FLAGS, *wide, SOURCES / "bare_histogram.cpp", "-o", program)
    return program


def build_kernels() -> Path:
    """The kernels of the core on a fixed problem; CMakeLists.txt knows how the core is compiled."""
    build = PROGRAMS / "core"
    build.mkdir(parents=True, exist_ok=True)
    configure = ["-DCMAKE_BUILD_TYPE=Release", "-DCOMBOOST_NATIVE_TESTS=ON"]
    run("cmake", "-S", REPOSITORY, "-B", build, *configure)
    run("cmake", "--build", build, "--target", "comboost_core")
    program = PROGRAMS / "kernels"
    include = f"-I{REPOSITORY / 'cpp'}"
    run("c++", *FLAGS, include, SOURCES / "kernels.cpp", build / "libcomboost_core.a", "-o", program)
    return program
