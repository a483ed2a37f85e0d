"""Kinds of numbers, sample weights and costs, which the fuzzer and the Hypothesis strategies of the tests share.

A generator draws one value from a ``random.Random``, of which it uses `randint`, `uniform` and `choice` alone. The
strategies pass an object with these methods that Hypothesis controls, so that it can shrink what fails; the plainer
choices therefore come first.
"""

from random import Random

HUGE = [-1.7976931348623157e308, -1e308, -9e307, 0.0, 1e307, 9e307, 1e308, 1.7976931348623157e308]
NEAR_ZERO = [0.0, -0.0, 1.0, -1.0, 2.2250738585072014e-308, -5e-324]


def small_integer(random: Random) -> float:
    """An integer between -3 and 3: many ties."""
    return float(random.randint(-3, 3))


def plain_float(random: Random) -> float:
    """A number between -100 and 100."""
    return random.uniform(-100, 100)


def float32(random: Random) -> float:
    """Any finite number that float32 holds exactly."""
    return random.randint(1 - 2**24, 2**24 - 1) * 2.0 ** random.randint(-149, 104)


def float64(random: Random) -> float:
    """A number of any magnitude that float64 holds."""
    return random.uniform(-1, 1) * 10.0 ** random.randint(-308, 308)


def huge(random: Random) -> float:
    """A number whose sums and differences overflow."""
    return random.choice(HUGE)


def denormal(random: Random) -> float:
    """A multiple of the smallest positive number."""
    return random.randint(-6, 6) * 5e-324


def signed_zero(random: Random) -> float:
    """A zero of either sign, or a number that is easily mistaken for one."""
    return random.choice(NEAR_ZERO)


def neighbour(random: Random) -> float:
    """One of six consecutive floats."""
    return 1.0 + random.randint(0, 5) * 2.0**-52


#: Kinds of numbers that float32 holds exactly, or nearly, and kinds that need float64.
FLOAT32_KINDS = (small_integer, plain_float, float32)
FLOAT64_KINDS = (neighbour, signed_zero, denormal, huge, float64)


def counting_weight(random: Random) -> float:
    """A small positive integer, as if a sample occurred several times."""
    return float(random.randint(1, 5))


def weight_or_zero(random: Random) -> float:
    """A small integer, often zero."""
    return float(random.randint(0, 3))


def half(random: Random) -> float:
    """A multiple of one half."""
    return random.randint(0, 8) / 2


def uneven_weight(random: Random) -> float:
    """A weight between 0.01 and 10."""
    return random.uniform(0.01, 10)


def wide_weight(random: Random) -> float:
    """A weight that may span many decades."""
    return random.uniform(1, 2) * 2.0 ** random.randint(-60, 40)


WEIGHT_KINDS = (counting_weight, weight_or_zero, half, uneven_weight, wide_weight)


def counting_cost(random: Random) -> float:
    """A small integer, zero included."""
    return float(random.randint(0, 3))


def uneven_cost(random: Random) -> float:
    """A cost between 0.01 and 100, or zero."""
    return random.choice([random.uniform(0.01, 100), 0.0])


def wide_cost(random: Random) -> float:
    """A cost that may span several decades."""
    return random.uniform(1, 2) * 2.0 ** random.randint(-9, 9)


COST_KINDS = (counting_cost, uneven_cost, wide_cost)
