"""Norms that boosting can minimise, and the line search along a round's direction.

In: a loss-based confusion matrix A, or the class losses r. Out: Φ and its gradient. Nothing here loops over samples.

A is non-negative and has a zero diagonal. Every norm is *monotone*: 0 <= C <= A, entry by entry, implies Φ(C) <= Φ(A).
So Φ of the loss-based confusion matrix bounds Φ of the confusion matrix, and the gradient is non-negative.
For the same matrix, spectral <= schatten-4 <= frobenius <= entrywise.

Sums are taken by `numpy.einsum` without ``optimize``: unlike BLAS and LAPACK, it adds in an order that does not depend
on the number of threads.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np

from comboost._types import Floats

Of = Literal["pairs", "classes", "both"]

WORST_CLASS_DOUBLINGS = 3  # "worst-class" is the p-norm with p = 2³ = 8
SPECTRAL_P = 8  # the rounds of "spectral" minimise the Schatten norm with this p; 16 and 32 are no better
TIE = 2.0**-50  # singular values that differ by less than this fraction count as equal
SEARCH_BITS = 30  # a line search finds the minimum up to 2^-30 of the interval
EULER_ERROR = 1e-6  # relative, of users' gradients
NO_STEP = 2.0**-20  # of the interval of a search; shorter steps learn nothing
SEARCH_STEPS = 58  # evaluations inside the interval, should the slope be so uneven that it needs more than 35


class Norm(Protocol):
    """A monotone norm.

    Attributes
    ----------
    name : str
        Its name in messages.
    of : {"pairs", "classes", "both"}
        What it is a norm of: A of shape (K, K), the class losses r of shape (K,), or either.
    """

    @property
    def name(self) -> str:
        """The name in messages."""

    @property
    def of(self) -> Of:
        """What it is a norm of."""

    def value(self, A: Floats) -> float:
        """Φ(A)."""

    def gradient(self, A: Floats) -> Floats:
        """∇Φ(A): non-negative, with a zero diagonal. At A = 0, it is that for equal entries."""

    def value_and_gradient(self, A: Floats) -> tuple[float, Floats]:
        """Φ(A) and ∇Φ(A), which share most of their work."""

    @property
    def smooth(self) -> "Norm":
        """A smooth norm that is never smaller: the rounds minimise it. The norm itself if it is smooth."""


class _ScaledNorm(ABC):
    """A norm that is evaluated on matrices whose largest entry is between ½ and 1, so that powers stay in range."""

    def __init__(self, name: str, of: Of) -> None:
        self.name = name
        self.of = of

    def value(self, A: Floats) -> float:
        """Φ(A)."""
        return self.value_and_gradient(A)[0]

    def gradient(self, A: Floats) -> Floats:
        """∇Φ(A)."""
        return self.value_and_gradient(A)[1]

    def value_and_gradient(self, A: Floats) -> tuple[float, Floats]:
        """Φ(A) and ∇Φ(A)."""
        largest = float(A.max())
        if largest == 0.0:  # the gradient does not exist; that for equal entries is a subgradient
            return 0.0, self._scaled(without_diagonal(np.full(A.shape, 0.5)))[1]
        exponent = math.frexp(largest)[1]
        value, gradient = self._scaled(np.ldexp(A, -exponent))
        return math.ldexp(value, exponent), gradient

    @property
    def smooth(self) -> Norm:
        """The norm itself."""
        return self

    @abstractmethod
    def _scaled(self, A: Floats) -> tuple[float, Floats]:
        """Φ(A) and ∇Φ(A) for such a matrix."""


class PowerNorm(_ScaledNorm):
    """The p-norm of the entries, (Σ A(l,j)^p)^(1/p), with p = 2^doublings."""

    def __init__(self, name: str, of: Of, doublings: int) -> None:
        super().__init__(name, of)
        self.doublings = doublings

    def _scaled(self, A: Floats) -> tuple[float, Floats]:
        power = A
        for _ in range(self.doublings):
            power = power * power
        value = float(np.einsum("i->", power.ravel()))
        for _ in range(self.doublings):
            value = math.sqrt(value)
        if self.doublings == 0:
            return value, without_diagonal(np.ones_like(A))
        # The gradient is (A/Φ)^(p−1), and p − 1 = 1 + 2 + 4 + …
        gradient = factor = A / value
        for _ in range(self.doublings - 1):
            factor = factor * factor
            gradient = gradient * factor
        return value, gradient


class SchattenNorm(_ScaledNorm):
    """The p-norm of the singular values, (tr (AᵀA)^(p/2))^(1/p), for an even p from 4."""

    def __init__(self, name: str, p: int) -> None:
        super().__init__(name, "pairs")
        self.p = p

    def _scaled(self, A: Floats) -> tuple[float, Floats]:
        gram = np.einsum("ji,jk->ik", A, A)
        powers = gram
        for _ in range(self.p // 2 - 2):
            powers = np.einsum("ij,kj->ik", powers, gram)
        value = math.pow(float(np.einsum("ij,ij->", gram, powers)), 1.0 / self.p)
        gradient = np.einsum("ij,kj->ik", A, powers)
        return value, without_diagonal(gradient / math.pow(value, self.p - 1))


class SpectralNorm(_ScaledNorm):
    """The largest singular value.

    Its gradient is u·vᵀ, with the singular vectors u and v of the largest singular value. Where several singular values
    are equally large, it is the mean of their u·vᵀ, the limit of the gradients of even Schatten norms.

    A line search often ends where two singular values meet. At the prices u·vᵀ of one of them, the next round would
    increase the other, so that its step is next to 0. The rounds therefore minimise a Schatten norm, with which all
    large singular values fall together: after as many rounds, the spectral norm itself is lower.
    """

    def __init__(self, name: str, p: int) -> None:
        super().__init__(name, "pairs")
        self._smooth = SchattenNorm(f"schatten-{p}", p)

    @property
    def smooth(self) -> Norm:
        """A Schatten norm."""
        return self._smooth

    def _scaled(self, A: Floats) -> tuple[float, Floats]:
        gram = np.einsum("ji,jk->ik", A, A)
        projector = largest_projector(gram)
        value = math.sqrt(float(np.einsum("ij,ij->", gram, projector)))
        return value, without_diagonal(np.einsum("ij,kj->ik", A, projector) / value)


def largest_projector(gram: Floats) -> Floats:
    """Projection on the eigenvectors of the largest eigenvalue, divided by their number.

    Parameters
    ----------
    gram : ndarray of shape (K, K)
        Symmetric, non-negative and positive semi-definite, not zero.

    Returns
    -------
    projector : ndarray of shape (K, K)
        The limit of gramⁿ/tr(gramⁿ): non-negative, of trace 1.
    """
    # Products of non-negative numbers do not cancel, so rounding changes gramⁿ by a relative error of about n·2⁻⁵³.
    n = 1
    projector: Floats = gram / gram.trace()
    while True:
        power = projector
        for _ in range(3):  # no trace of the 8th power underflows: with K classes it is at least K⁻⁷
            power = np.einsum("ij,kj->ik", power, power)
        power /= power.trace()
        # Eigenvalues that differ by a fraction of g change their shares by about n·g.
        change = float(np.abs(power - projector).max())
        projector = power
        if change <= n * TIE:
            return projector
        n *= 8


def without_diagonal(matrix: Floats) -> Floats:
    """Set the diagonal of a matrix to 0, in place; leave a vector as it is."""
    if matrix.ndim == 2:
        np.fill_diagonal(matrix, 0.0)
    return matrix


class GivenNorm(_ScaledNorm):
    """A user's norm, checked at every evaluation."""

    def __init__(self, given: Any, smooth: Norm | None) -> None:
        super().__init__(type(given).__name__, getattr(given, "of", "pairs"))
        self.given = given
        self._smooth = smooth

    @property
    def smooth(self) -> Norm:
        """The norm of the attribute ``smooth``, or the norm itself."""
        return self if self._smooth is None else self._smooth

    def _scaled(self, A: Floats) -> tuple[float, Floats]:
        value, gradient = checked_value(self.given, A), checked_gradient(self.given, A)
        by_gradient = float(np.einsum("i,i->", gradient.ravel(), A.ravel()))
        if abs(by_gradient - value) > EULER_ERROR * value:
            raise _bad_norm(
                self.given,
                f"value(A) returned {value:g}, but the sum of gradient(A) * A is {by_gradient:g}",
                "equal numbers, as of every norm",
            )
        return value, gradient


ENTRYWISE = PowerNorm("entrywise", "both", 0)

_NORMS: dict[str, Norm] = {
    norm.name: norm
    for norm in (
        ENTRYWISE,
        PowerNorm("frobenius", "pairs", 1),
        SchattenNorm("schatten-4", 4),
        SpectralNorm("spectral", SPECTRAL_P),
        PowerNorm("worst-class", "classes", WORST_CLASS_DOUBLINGS),
        PowerNorm("l2-class", "classes", 1),
    )
}

#: The norms that have a name.
NORMS = tuple(_NORMS)


def get_norm(norm: str | object) -> Norm:
    """Return a norm by its name, or a user's object as a norm.

    Parameters
    ----------
    norm : str or object
        One of `NORMS`, or an object with the methods ``value(A)`` and ``gradient(A)``. Its attribute ``of`` says what A
        is: "pairs" (the default) for a matrix of shape (K, K), "classes" for class losses of shape (K,). If the norm
        has kinks, its attribute ``smooth`` is a smooth norm that is never smaller.
    """
    known = ", ".join(map(repr, NORMS))
    if isinstance(norm, str):
        if norm in _NORMS:
            return _NORMS[norm]
        if norm in ("nuclear", "trace"):
            raise ValueError(
                f"norm={norm!r} is not available. The nuclear norm is not monotone, so its value for losses does not "
                "bound its value for the confusion matrix: [[1, 0], [1, 1]] is nowhere above [[1, 1], [1, 1]], but its "
                f"nuclear norm is 2.236 and that of the latter is 2. Use one of {known}."
            )
        raise ValueError(f"norm={norm!r} is unknown; use one of {known}, or an object with value(A) and gradient(A).")
    missing = [f"{name}(A)" for name in ("value", "gradient") if not callable(getattr(norm, name, None))]
    if isinstance(norm, type) or missing:
        seen = f"the class {norm.__name__}, not an object of it" if isinstance(norm, type) else repr(norm)
        lacks = f", which lacks {' and '.join(missing)}" if missing else ""
        raise TypeError(f"norm is {seen}{lacks}; use one of {known}, or an object with value(A) and gradient(A).")
    smooth = getattr(norm, "smooth", None)
    given = GivenNorm(norm, None if smooth is None or smooth is norm else smooth_norm(smooth))
    if given.of not in ("pairs", "classes", "both"):
        raise ValueError(
            f"norm {given.name}: its attribute of is {given.of!r}; "
            "use 'pairs' for a norm of A (n_classes, n_classes), 'classes' for a norm of the class losses, or 'both' "
            "for a norm of whichever the loss has."
        )
    if given.smooth.of != given.of:
        raise ValueError(
            f"norm {given.name}: its attribute smooth is a norm of {given.smooth.of}, and it is a norm of {given.of}; "
            "give a smooth norm of the same."
        )
    return given


def smooth_norm(smooth: str | object) -> Norm:
    """The smooth norm that belongs to a user's norm with kinks; it must not have kinks, too."""
    found = get_norm(smooth) if isinstance(smooth, str) else smooth
    if getattr(found, "smooth", None) not in (None, found):
        raise ValueError(
            f"norm: the attribute smooth is {smooth!r}, which has kinks itself; give a norm that is smooth."
        )
    return get_norm(smooth)


def checked_value(norm: Any, A: Floats) -> float:
    """Value of a user's norm, which must be a finite number and not negative."""
    value = norm.value(A.copy())
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number >= 0.0):
        raise _bad_norm(norm, f"value(A) returned {value!r}", "a finite number that is not negative")
    return number


def checked_gradient(norm: Any, A: Floats) -> Floats:
    """Gradient of a user's norm, checked: finite, not negative, of the shape of A, not 0 wherever A is positive.

    The diagonal is ignored and returned as 0.
    """
    returned = norm.gradient(A.copy())
    try:
        gradient = np.array(returned, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise _bad_norm(norm, f"gradient(A) returned {returned!r}", f"an array of shape {A.shape}") from None
    if gradient.shape != A.shape:
        raise _bad_norm(norm, f"gradient(A) returned an array of shape {gradient.shape}", f"the shape of A, {A.shape}")
    gradient = without_diagonal(gradient)
    if not np.isfinite(gradient).all():
        raise _bad_norm(norm, f"gradient(A) has the entry {gradient[~np.isfinite(gradient)][0]}", "finite entries")
    if (gradient < 0.0).any():
        raise _bad_norm(
            norm,
            f"gradient(A) has the entry {gradient.min():g}",
            "entries that are not negative, as the gradients of monotone norms are",
        )
    if A.any() and not gradient[A > 0.0].any():
        raise _bad_norm(norm, "gradient(A) is 0 wherever A is positive", "a positive entry where A is positive")
    return gradient


def _bad_norm(norm: Any, seen: str, expected: str) -> ValueError:
    return ValueError(f"norm {type(norm).__name__}: {seen}; expected {expected}.")


def minimise_along(curve: Callable[[float], tuple[float, float]], high: float, guess: float | None = None) -> float:
    """Minimise a convex function on [0, high].

    Parameters
    ----------
    curve : callable
        Value and slope at a point.
    high : float
        Upper end, above 0. It is returned if the slope there is not positive.
    guess : float, optional
        Where to start, in (0, high]; by default at the upper end.

    Returns
    -------
    point : float
        The minimiser, up to 2⁻³⁰ of the interval; usually with less than 10 evaluations, at most 70.
    """
    new, old = 0.0, high if guess is None else min(guess, high)
    new_slope, old_slope = -math.inf, curve(old)[1]
    while old_slope <= 0.0:
        if old == high:
            return high
        new, new_slope = old, old_slope
        old = min(2.0 * old, high)
        old_slope = curve(old)[1]
    if new == 0.0:
        new_slope = curve(0.0)[1]
        if new_slope >= 0.0:
            return 0.0
    # The zero of the slope, by Chandrupatla's method (1997): inverse quadratic interpolation, or bisection where the
    # last three points do not follow a monotone curve. The zero is between new and old, on whose side last was.
    least, share = math.ldexp(high, -SEARCH_BITS), 0.5
    for _ in range(SEARCH_STEPS):
        point = new + share * (old - new)
        slope = curve(point)[1]
        last, last_slope = new, new_slope
        if (slope > 0.0) != (new_slope > 0.0):
            (last, last_slope), (old, old_slope) = (old, old_slope), (new, new_slope)
        new, new_slope = point, slope
        width = abs(old - new)
        if slope == 0.0 or width <= least:
            break
        x = (new - old) / (last - old)
        y = (new_slope - old_slope) / (last_slope - old_slope)
        share = 0.5
        if y**2 < x and (1.0 - y) ** 2 < 1.0 - x:
            share = new_slope / (old_slope - new_slope) * last_slope / (old_slope - last_slope)
            share += (
                (last - new) / (old - new) * new_slope / (last_slope - new_slope) * old_slope / (last_slope - old_slope)
            )
        share = min(max(share, 0.5 * least / width), 1.0 - 0.5 * least / width)
    return new
