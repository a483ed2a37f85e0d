"""Files. In: chance. Out: programs that damage a file of the study: it is named, or the tables are the same."""

from random import Random

from fuzz.programs import program

SECONDS = 120
SHARE = 1.5

DAMAGES = [
    "lambda content: content[:{place} % len(content)]",
    "lambda content: b''",
    "lambda content: b'null'",
    "lambda content: b'[]'",
    "lambda content: b'{{}}'",
    "lambda content: b'\\xff\\xfe\\x00'",
    "lambda content: b'[' * 100000",
    "lambda content: b'1e999'",
    "lambda content: content + content",
    "lambda content: b'\\xef\\xbb\\xbf' + content",
    "lambda content: re.sub(rb'[0-9]', b'{digit}', content, count={few})",
    "lambda content: re.sub(rb'[0-9.]+', b'null', content)",
    "lambda content: re.sub(rb'[0-9]+[.][0-9]+', b'NaN', content, count=1)",
    "lambda content: re.sub(rb'\\{{', b'[', content, count=1)",
    "lambda content: re.sub(rb'\"[a-z_]+\": [^,]*,', b'', content, count={few})",
    "lambda content: with_flipped_bit(content, {place})",
    "lambda content: with_flipped_bit(content, {place})",
    "lambda content: with_flipped_bit(content, {place})",
    "None",
]


def draw(random: Random) -> str:
    """Damage the settings or one of the results."""
    drawn = {"place": random.randrange(10**6), "digit": random.randrange(10), "few": random.choice([1, 3])}
    damage = random.choice(DAMAGES).format(**drawn)
    name = random.choice(["settings.json", "folds/*/*/run-00-fold-2.json", "folds/*/*/run-00-fold-2.json"])
    return program(f"check_damaged_study({name!r}, {damage})")
