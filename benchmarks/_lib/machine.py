"""The machine, the versions and the commit of a run, as plain dicts; and the CPU time of other programs."""

import hashlib
import importlib
import os
import platform
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._lib.peers import ALL

REPOSITORY = Path(__file__).parents[2]


def describe_machine() -> dict[str, Any]:
    """CPU, cores, memory, system. The load says how busy others kept it when the run began."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "avx2": has_avx2(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


@dataclass(frozen=True)
class CpuTime:
    """Seconds that the CPU was busy with this program and its children, and with everything."""

    clock: float
    ours: float
    all: float

    @classmethod
    def now(cls) -> "CpuTime":
        """The seconds up to now."""
        ours = sum(os.times()[:4])  # user and system, this process and its children
        return cls(time.perf_counter(), ours, busy_seconds())

    def cores_of_others(self) -> float:
        """Cores that other programs kept busy since then, on average: what they took, a benchmark did not get."""
        now = CpuTime.now()
        return max(0.0, (now.all - self.all) - (now.ours - self.ours)) / (now.clock - self.clock)


def busy_seconds() -> float:
    """CPU seconds of all programs since the machine started; 0 if that is not known."""
    try:
        fields = Path("/proc/stat").read_text().split()
    except OSError:
        return 0.0
    user, nice, system, _idle, _waiting, irq, soft_irq, steal = map(int, fields[1:9])
    return (user + nice + system + irq + soft_irq + steal) / os.sysconf("SC_CLK_TCK")


def cpu_model() -> str:
    """The CPU's name."""
    names = cpu_entries("model name")
    return names[0] if names else platform.processor() or platform.machine()


def has_avx2() -> bool:
    """Whether the CPU has vectors of 256 bits for integers."""
    flags = cpu_entries("flags")
    return bool(flags) and "avx2" in flags[0].split()


def cpu_entries(key: str) -> list[str]:
    """The entries of /proc/cpuinfo with this key; none if there is no such file."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
    return [line.partition(":")[2].strip() for line in lines if line.startswith(key)]


def describe_versions() -> dict[str, str]:
    """Versions of all that takes part."""
    versions = {"python": platform.python_version()}
    for module in ("numpy", "scipy", "sklearn"):
        versions[module] = importlib.import_module(module).__version__
    for library in ALL:
        if library.missing() is None:
            versions[library.module] = library.version()
    versions["compiler"] = (output_of("c++", "--version") or "none").splitlines()[0]
    return versions


def describe_commit() -> dict[str, Any]:
    """The commit of the repository, and which comboost was measured: that one need not have been built from it."""
    package = comboost_folder()
    return {
        "commit": output_of("git", "-C", str(REPOSITORY), "rev-parse", "HEAD"),
        "changed_files": (output_of("git", "-C", str(REPOSITORY), "status", "--short") or "").splitlines(),
        "comboost_digest": digest_of(package),
        "comboost_differs_from_repository_in": differing_modules(package, REPOSITORY / "src" / "comboost"),
    }


def comboost_folder() -> Path:
    """The package that is imported."""
    return Path(importlib.import_module("comboost").__file__).parent


def digest_of(package: Path) -> str:
    """A digest of a package's modules, compiled ones too: two runs with the same one measured the same thing."""
    digest = hashlib.sha256()
    for path in sorted(path for path in package.rglob("*") if path.suffix in (".py", ".so")):
        digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def check_unchanged(source: dict[str, Any]) -> None:
    """Raise if comboost was installed again meanwhile: new processes would measure something else than this one."""
    if digest_of(comboost_folder()) != source["comboost_digest"]:
        raise RuntimeError("comboost was installed anew while this case ran; start again")


def differing_modules(package: Path, sources: Path) -> list[str]:
    """Python modules of the repository that are not the same in the package; compiled ones cannot be compared."""
    modules = [path.relative_to(sources) for path in sorted(sources.rglob("*.py"))]
    return [str(module) for module in modules if not same_content(package / module, sources / module)]


def same_content(one: Path, other: Path) -> bool:
    """Whether both files are there and equal."""
    return one.exists() and other.exists() and one.read_bytes() == other.read_bytes()


def output_of(*command: str) -> str | None:
    """What a command prints; None if it cannot be run."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip()
    except (OSError, subprocess.CalledProcessError):
        return None
