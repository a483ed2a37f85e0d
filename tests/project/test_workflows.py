"""The workflows of the repository use nothing that somebody else can replace."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+")

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="there is no checkout")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit_and_name_their_version(path):
    used = [line.partition("uses: ")[2] for line in path.read_text().splitlines() if "uses: " in line]
    assert used
    assert [action for action in used if not PINNED.fullmatch(action)] == []


def test_an_action_has_the_same_commit_everywhere():
    commits = {}
    for path in WORKFLOWS:
        for action, commit in re.findall(r"uses: ([\w/-]+)@(.*)", path.read_text()):
            commits.setdefault(action, set()).add(commit)
    assert {action: found for action, found in commits.items() if len(found) > 1} == {}


def test_tools_that_make_a_release_have_exact_versions():
    text = (ROOT / ".github/workflows/wheels.yml").read_text()
    tools = re.findall(r"pipx run (?:--spec )?(\S+)", text)
    assert len(tools) == 3
    assert [tool for tool in tools if not re.fullmatch(r"[\w-]+==[\d.]+", tool)] == []


def test_only_the_job_that_publishes_may_sign():
    before, _, publish = (ROOT / ".github/workflows/wheels.yml").read_text().partition("  publish:")
    assert "permissions:\n  contents: read\n" in before
    assert "id-token" not in before
    assert publish.index("attest-build-provenance@") < publish.index("gh-action-pypi-publish@")


def test_build_requirements_have_upper_bounds():
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for text in content["build-system"]["requires"]:
        assert any(bound.operator == "<" for bound in Requirement(text).specifier), text
