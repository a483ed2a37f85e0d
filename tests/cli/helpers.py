"""What tests of the command line share."""

import json
from pathlib import Path

CSV = "a,b,y\n1,u,p\n2,v,q\n3,u,p\n4,v,q\n5,u,p\n6,v,q\n"
QUICK = ("--rounds", "5")


def columns_of(frame):
    return frame.drop(columns="state"), frame["state"].to_numpy().astype(str)


def json_of(result):
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def refused(result, *words, code=1):
    """Check that a command printed one line on stderr with these words, and nothing else."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    for word in words:
        assert word in line


def files_of(folder):
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
