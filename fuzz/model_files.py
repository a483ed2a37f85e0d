"""Model files. In: chance. Out: programs that load damaged and forged files: refused in a sentence, or sound models."""

import copy
import io
import json
import os
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from comboost import load_model
from comboost._persistence.archive import write_archive
from comboost._persistence.model_file import MODEL, list_members, stored_parts
from comboost._persistence.plain_values import dump_json
from fuzz.models import FORGERS, Mutation, Subject, answers
from fuzz.programs import program

MODELS = Path(__file__).with_name("models.py")  # the models that are saved
N_SUBJECTS = 4
N_MUTATIONS = 40  # of one model, so that fitting it does not take all the time

SENTENCES = ("The model file ", "The file ")
RECORDS = {"the end": (b"PK\x05\x06", 22), "the directory": (b"PK\x01\x02", 46), "a header": (b"PK\x03\x04", 30)}
ODD_TEXTS = [
    "",
    "$array",
    "../../etc/passwd",
    "forest/nodes.npy",
    "model.json",
    "\x00",
    "<f8",
    "|O",
    "<U9999999",
    "nan",
]
ODD_VALUES = [
    *(None, True, False, 0, 1, -1, 2, 255, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, -0.0, 1e308, 5e-324, [], {}, [[]]),
    *({"$tuple": []}, {"$tuple": 5}, {"$dict": [[1, 2], [1, 3]]}, {"$dict": [[[], 1]]}, {"$dict": 7}, {"$what": 1}),
    *({"$float": "nan"}, {"$float": "inf"}, {"$float": "1"}, {"$float": []}, {"$text": "00d80000"}, {"$text": "zz"}),
    *({"$bytes": "00"}, {"$bytes": "0"}, {"$date": "2000-01-01"}, {"$date": "2000-13-01"}, {"$datetime": "x"}),
    *({"$decimal": "1E+999999999"}, {"$decimal": "sNaN"}, {"$decimal": "x"}, {"$microseconds": "1" * 30}),
    *({"$fraction": "1/0"}, {"$fraction": "1e999999999/1"}, {"$module": "os"}, {"$module": "numpy.random"}),
    *({"$scalar": {"dtype": "<f8", "bytes": "00" * 8}}, {"$scalar": {"dtype": "|O", "bytes": "00" * 8}}),
    *({"$scalar": {"dtype": "<U1", "bytes": "ffffffff"}}, {"$scalar": {"dtype": "<M8[ns]", "bytes": "00" * 8}}),
    *({"$objects": {"shape": [3], "items": ["a", "b", "c"]}}, {"$objects": {"shape": [10**9], "items": []}}),
    *({"$objects": {"shape": [3], "items": [[1], {}, None]}}, {"$array": {}}, {"$array": "classes_.npy"}),
    {"$random_state": {"key": None, "pos": 10**6, "has_gauss": 0, "gauss": 0.0}},
    {"$array": {"member": "classes_.npy", "dtype": "<U3", "shape": [3], "sha256": "0" * 64}},
    {"$dict": [[[{"$tuple": [number * (2**61 - 1)]}], number] for number in range(300)]},
    {"$dict": [[number * (2**61 - 1), number] for number in range(300)]},
]


def draw(random: Random) -> str:
    """Some mutations of one model's file."""
    kind = random.choice(["damaged_files", "forged_states", "forged_json", "forged_zips"])
    lines = f"""
subject = subjects()[{random.randrange(N_SUBJECTS)}]
mutations = {kind}(subject, np.random.default_rng({random.randrange(10**6)}))
expected = answers(subject.model, subject.rows)
for mutation in islice(mutations, {N_MUTATIONS}):
    check_file(mutation, subject, expected)
"""
    return program(lines, MODELS, __file__, MODELS)  # functions of the latter, in its order


def saved(model: Any) -> bytes:
    """The file of a model."""
    stream = io.BytesIO()
    model.save_model(stream)
    return stream.getvalue()


def zipped(members: list[tuple[str, list[Any]]]) -> bytes:
    """A file of members."""
    stream = io.BytesIO()
    write_archive(stream, members)
    return stream.getvalue()


def unzipped(content: bytes) -> dict[str, bytes]:
    """The members of a file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_json(members: dict[str, bytes], content: dict[str, Any]) -> bytes:
    """A file with other JSON, whose checksum is right."""
    content = {name: value for name, value in content.items() if name != "checksum"}
    text = dump_json(content).encode()
    return zipped([(name, [text if name == MODEL else member]) for name, member in members.items()])


# Mutations, without end


def damaged_files(subject: Subject, random: np.random.Generator) -> Iterator[Mutation]:
    """Files as disks and lines leave them: a flipped bit, a part lost, doubled, moved, blank, or of another file."""
    intact = saved(subject.model)
    while True:
        begin, end = sorted(random.integers(len(intact) + 1, size=2).tolist())
        end = min(end, begin + int(random.choice([1, 4, 22, 128, 10**6, 10**6])))
        part, junk = intact[begin:end], random.bytes(min(end - begin, 4096))
        place, flipped = int(random.integers(len(intact))), bytearray(intact)
        flipped[place] ^= 1 << int(random.integers(8))
        damages = {
            "a bit flipped": bytes(flipped),
            "cut off": intact[:begin],
            "begun too late": intact[begin:],
            "a part lost": intact[:begin] + intact[end:],
            "a part doubled": intact[:end] + part + intact[end:],
            "a part blank": intact[:begin] + bytes(len(part)) + intact[end:],
            "a part of ones": intact[:begin] + b"\xff" * len(part) + intact[end:],
            "a part of anything": intact[:begin] + junk + intact[begin + len(junk) :],
            "a part backwards": intact[:begin] + part[::-1] + intact[end:],
            "something before it": junk + intact,
            "something after it": intact + junk,
            "nothing but anything": junk,
        }
        told = str(random.choice(["a bit flipped"] * 6 + list(damages)))
        yield Mutation(f"{subject.name}: {told}, {begin} to {end}, or {place}", damages[told], forged=False)


def forged_states(subject: Subject, random: np.random.Generator) -> Iterator[Mutation]:
    """Files whose checksums are right, of arrays that do not fit each other."""
    parameters, intact = stored_parts(subject.model)
    while True:
        state = copy.deepcopy(intact)
        told = FORGERS[int(random.integers(len(FORGERS)))](state, random)
        try:
            members = list_members(type(subject.model).__name__, parameters, state)
        except ValueError:  # not even a forger can write this
            continue
        yield Mutation(f"{subject.name}: {told}", zipped(members), forged=True)


def forged_json(subject: Subject, random: np.random.Generator) -> Iterator[Mutation]:
    """Files whose checksums are right, with other JSON: values, names, types and shapes."""
    members = unzipped(saved(subject.model))
    while True:
        content = json.loads(members[MODEL])
        told = "; ".join(forge_value(content, random) for _ in range(int(random.choice([1, 1, 1, 2, 5]))))
        if random.random() < 0.9:
            yield Mutation(f"{subject.name}: {told}", with_json(members, content), forged=True)
            continue
        texts = odd_texts(members[MODEL])
        name = str(random.choice(list(texts)))
        others = [(key, [texts[name] if key == MODEL else member]) for key, member in members.items()]
        yield Mutation(f"{subject.name}: JSON of {name}", zipped(others), forged=True)


def odd_texts(text: bytes) -> dict[str, bytes]:
    """What stands in place of a text of JSON."""
    return {
        "deep lists": b"[" * 100_000,
        "deep objects": b'{"a":' * 100_000,
        "deep and closed": text[:-1] + b', "more": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        "a long integer": text.replace(b'"format": 1', b'"format": ' + b"9" * 10_000),
        "no number": text.replace(b'"format": 1', b'"format": NaN'),
        "no end": text.replace(b'"format": 1', b'"format": 1e999'),
        "a name twice": text.replace(b'"format": 1', b'"format": 1, "format": 1'),
        "a later format": text.replace(b'"format": 1', b'"format": 2'),
        "no text": b"\xff\xfe" + text,
        "nothing": b"",
    }


def forge_value(content: Any, random: np.random.Generator) -> str:
    """Change one value or name somewhere in JSON; how."""
    places = list(places_in(content))
    holder, key = places[int(random.integers(len(places)))]
    before = holder[key]
    numbers = [before - 1, before + 1, -before, before * 10**6, before % 7 + 0.5] if type(before) is int else []
    options = ["odd", "odd", "text", "gone", "number", "twin", "renamed"]
    option = str(random.choice(options))
    if option == "gone":
        del holder[key]
    elif option == "renamed" and isinstance(holder, dict):
        holder[str(random.choice([f"{key}x", "$array", "fit", "__class__", "predict", "more_"]))] = holder.pop(key)
    elif option == "twin":
        other, there = places[int(random.integers(len(places)))]
        holder[key] = copy.deepcopy(other[there]) if other is not holder else before
    elif option == "number" and numbers:
        holder[key] = numbers[int(random.integers(len(numbers)))]
    elif option == "text":
        holder[key] = ODD_TEXTS[int(random.integers(len(ODD_TEXTS)))]
    else:
        holder[key] = copy.deepcopy(ODD_VALUES[int(random.integers(len(ODD_VALUES)))])
    return f"{key}: {option}"


def places_in(content: Any) -> Iterator[tuple[Any, Any]]:
    """All holders and keys in JSON."""
    for key, value in list(content.items() if isinstance(content, dict) else enumerate(content)):
        yield content, key
        if isinstance(value, dict | list):
            yield from places_in(value)


def forged_zips(subject: Subject, random: np.random.Generator) -> Iterator[Mutation]:
    """Files of members that are all right, zipped as they should not be."""
    content = saved(subject.model)
    while True:
        if random.integers(2):
            record = str(random.choice(list(RECORDS)))
            yield Mutation(
                f"{subject.name}: a lie in {record}", with_lie(content, *RECORDS[record], random), forged=True
            )
        else:
            told, forged = forge_zip(list(unzipped(content).items()), random)
            yield Mutation(f"{subject.name}: {told}", forged, forged=True)


def forge_zip(members: list[tuple[str, bytes]], random: np.random.Generator) -> tuple[str, bytes]:
    """Zip members in a way that is none of ours."""
    name, member = members[int(random.integers(len(members)))]
    others = [pair for pair in members if pair[0] != name]
    makers: dict[str, Callable[[], bytes]] = {
        "a member twice": lambda: rezipped([*members, (name, member)]),
        "a member left out": lambda: rezipped(others),
        "a member more": lambda: rezipped([*members, ("../more.npy", member)]),
        "a member renamed": lambda: rezipped([*others, (f"/{name}", member)]),
        "a member cut off": lambda: rezipped([*others, (name, member[: int(random.integers(len(member)))])]),
        "a member of zeros": lambda: rezipped([*others, (name, bytes(len(member)))]),
        "another header": lambda: rezipped([*others, (name, member.replace(b"False", b"True "))]),
        "objects": lambda: rezipped([*others, (name, member.replace(b"'<f8'", b"'|O' "))]),
        "deflated": lambda: rezipped(members, zipfile.ZIP_DEFLATED),
        "a bomb": lambda: rezipped([*others, (name, bytes(2**24))], zipfile.ZIP_DEFLATED),
        "thousands of members": lambda: rezipped([*members, *((f"{i}.npy", b"") for i in range(2000))]),
        "a comment": lambda: rezipped(members, comment=b"PK\x05\x06" + bytes(18)),
        "a folder": lambda: rezipped([*members, ("forest/", b"")]),
    }
    told = str(random.choice(list(makers)))
    return f"{told}, {name}", makers[told]()


def rezipped(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED, comment: bytes = b"") -> bytes:
    """Members as any zip program would write them."""
    stream = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(stream, "w", method) as archive:
        for name, member in members:
            archive.writestr(name, member)
        archive.comment = comment
    return stream.getvalue()


def with_lie(content: bytes, signature: bytes, length: int, random: np.random.Generator) -> bytes:
    """A file with other numbers in one of the records of zip."""
    places = [place for place in range(len(content)) if content.startswith(signature, place)]
    place = int(random.choice(places))
    lied, at, size = bytearray(content), place + int(random.integers(4, length)), int(random.choice([1, 2, 4, 8]))
    lie = int(random.choice([0, 1, 2**7, 2**15, 2**16 - 1, 2**31, 2**32 - 1])).to_bytes(8, "little")[:size]
    lied[at : at + size] = lie
    return bytes(lied[: len(content)])


# Judgement


def check_file(mutation: Mutation, subject: Subject, expected: list[bytes]) -> str:
    """What becomes of a file, from a disk or from memory: it is refused in a sentence of ours, or a sound model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_bytes(mutation.pickled)
        model, error = load_or_refuse(path if len(mutation.pickled) % 2 else io.BytesIO(mutation.pickled))
        assert os.listdir(folder) == ["model"], f"something was extracted: {mutation.how}"
    if error is not None:
        ours = type(error) is ValueError and str(error).startswith(SENTENCES)
        assert ours, f"no sentence of ours: {error!r} ({mutation.how})"
        return "refused"
    assert type(model).__module__.startswith("comboost"), f"another object: {mutation.how}"
    found = answers_or_none(model, subject.rows)
    assert mutation.forged or found == expected, f"another model without a word: {mutation.how}"
    return "failed" if found is None else "same" if found == expected else "changed"


def load_or_refuse(source: Any) -> tuple[Any, Exception | None]:
    """A model, or why there is none."""
    try:
        return load_model(source), None
    except Exception as error:
        return None, error


def answers_or_none(model: Any, rows: Any) -> list[bytes] | None:
    """What a model says of rows; None if it refuses them, since its parameters or its kinds of columns are others."""
    try:
        return answers(model, rows)
    except (ValueError, TypeError):
        return None
