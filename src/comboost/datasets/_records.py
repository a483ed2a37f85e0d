"""The records of the bundled data sets: a name in, the file, its checksum and its description out.

A new set is one record here plus one file in ``data/`` (and its donors in ``data/NOTICE``).
"""

from dataclasses import dataclass

__all__ = ["RECORDS", "DatasetRecord"]


@dataclass(frozen=True)
class DatasetRecord:
    """What has to be known of a bundled data set besides its rows."""

    name: str
    filename: str  # in data/: a header line, the features, the class in the last column
    sha256: str  # of the compressed file
    description: str


_YEAST = DatasetRecord(
    name="yeast",
    filename="yeast.csv.gz",
    sha256="66376aaa6eae6a00fd56132481d04b472f49d7e87b0e790512651ce1b2574eab",
    description="""\
Yeast: where in the cell a yeast protein is found
=================================================

1484 proteins, 8 numeric features, 10 classes, no missing values.

Features (scores computed from the amino acid sequence):

- mcg, gvh: signal sequence, by McGeoch's and by von Heijne's method
- alm: membrane spanning regions, by the ALOM program
- mit: mitochondrial or not, from the first 20 amino acids
- erl: the signal that keeps a protein in the endoplasmic reticulum, present or not (1.0 or 0.5)
- pox: the signal for the peroxisome at the end of the chain
- vac: vacuolar and extracellular or not, from the amino acids
- nuc: nuclear or not, from localization signals

Classes and their rows:

- CYT, cytosol or cytoskeleton: 463
- NUC, nucleus: 429
- MIT, mitochondria: 244
- ME3, membrane, no signal at the start of the chain: 163
- ME2, membrane, signal that is not cut off: 51
- ME1, membrane, signal that is cut off: 44
- EXC, outside the cell: 35
- VAC, vacuole: 30
- POX, peroxisome: 20
- ERL, endoplasmic reticulum: 5

31 rows repeat an earlier row; they are kept, as in the repository. Made by Kenta Nakai, donated by Paul Horton to the
UCI Machine Learning Repository (https://doi.org/10.24432/C5KG68), licensed CC BY 4.0.
""",
)

RECORDS: dict[str, DatasetRecord] = {record.name: record for record in (_YEAST,)}
