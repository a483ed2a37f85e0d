"""Confidence bounds on error rates, recalls and the norm of the confusion matrix: formulas.

Everything is conditional on the true classes and on the weights. The samples of a class l are independent, and each is
predicted as j with probability C(l, j), whatever its weight. A bound may fail with probability η; L = ln(1/η). All
functions accept many matrices at once.

The bounds do not bound all entries of C simultaneously. A test of a single hypothesis, at level η, may depend on that
hypothesis; the bound is the largest value that its test does not reject. So targets need no correction for K classes:

- A maximum max_l p_l is at most the largest of the upper bounds of p_l, *each at level η*: only the bound of the class
  with the largest p_l has to hold, and which class that is does not depend on the samples.
- The norm ‖C‖ equals uᵀCv for its singular vectors u, v ≥ 0, which do not depend on the samples either. So
  ‖C_S‖ ≥ T = uᵀC_S v, a single mean of independent terms with expectation ‖C‖, whatever the number of classes.
- A product of recalls has an unbiased estimator, and so do its powers.

Chernoff's inequality bounds such a mean: with Λ(s) = −ln E exp(−sT), P(T ≤ t) ≤ exp(s·t − Λ(s)) for every s > 0. So T
is below sup_s (Λ(s) − L)/s with probability η at most; otherwise s·T + L ≥ Λ(s) for all s > 0 at once. That is why s
may be chosen by the samples, and every choice gives a valid bound.
"""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, gammaln, xlogy

from comboost._types import Floats
from comboost.metrics._outcomes import SampleOutcomes, sums_by

GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
CELLS = np.linspace(0.0, 1.0, 65)  # of (0, 1], in which the Laplace transform is bounded from below
NEWTON_STEPS = 6
SEARCH_STEPS = (12, 6, 6, 6, 6, 6, 6, 6)  # of the searches for σ; each starts from the bound that the last one found
SEARCH_TOLERANCE = 1e-3  # no further search if one gains less
POWER_STEPS, LAST_POWER_STEPS = 16, 100  # of the power method, in a search and at its end
TYPICAL_RECALLS = np.append(expit(np.arange(-5.0, 14.0, 0.05)), 1.0)
MAX_ORDERS = 60  # of factorial moments that are tried
SMALLEST = 1e-6  # keeps quotients finite; bounds are accurate to about this
SMALLEST_PRIOR = 1e-300  # smaller ones are rounded up to this, so that quotients do not overflow


class ClassSamples(NamedTuple):
    """What samples reveal about every class: its row of the confusion matrix, and how many samples it rests on."""

    confusion: Floats  #: error confusion matrices, of shape (..., K, K)
    sizes: Floats  #: effective number of samples of each class, (Σ n_i)²/Σ n_i²
    binomial: NDArray[np.bool_]  #: whether all samples of a class have the same weight, so that errors are binomial

    @classmethod
    def of_counts(cls, counts: Floats) -> Self:
        """Read unweighted counts N(l, j) of shape (..., K, K), with the same class sizes in all of them."""
        sizes = counts.reshape(-1, *counts.shape[-2:])[0].sum(axis=-1)
        confusion = counts / np.maximum(sizes, 1.0)[:, np.newaxis]
        confusion[..., range(len(sizes)), range(len(sizes))] = 0.0
        return cls(confusion, sizes, np.ones(len(sizes), dtype=bool))

    @classmethod
    def of_outcomes(cls, outcomes: SampleOutcomes, confusion: Floats) -> Self:
        """Read weighted samples, whose error confusion matrix is known."""
        true_idx, weight, n_classes = outcomes.true_idx, outcomes.weight, outcomes.classes.size
        largest = np.zeros(n_classes)
        np.maximum.at(largest, true_idx, weight)
        relative = np.divide(weight, largest[true_idx], out=np.zeros_like(weight), where=weight > 0)  # at most 1
        binomial = sums_by(true_idx, relative * (1.0 - relative), n_classes) == 0
        totals, squares = sums_by(true_idx, relative, n_classes), sums_by(true_idx, relative**2, n_classes)
        sizes = np.divide(totals**2, squares, out=np.zeros(n_classes), where=squares > 0)
        return cls(confusion, sizes, binomial)

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.sizes)

    @property
    def errors(self) -> Floats:
        """Error rates of the classes."""
        return np.asarray(np.minimum(self.confusion.sum(axis=-1), 1.0))


# Classes


def clopper_pearson_lower(successes: Floats, n_samples: Floats, eta: float) -> Floats:
    """Proportion for which so many successes, or more, have probability eta."""
    bound = betaincinv(np.maximum(successes, 1.0), n_samples - successes + 1.0, eta)
    return np.where((successes > 0) & np.isfinite(bound), bound, 0.0)  # it is not finite for tiny eta


def error_upper(samples: ClassSamples, eta: float) -> Floats:
    """Upper bound of the error rate of every class, each at level eta; 1 for absent classes.

    Clopper-Pearson bounds for binomial errors. With unequal weights a_i that sum to 1 and m = 1/Σ a_i², the errors Z_i
    satisfy −Σ_i ln E exp(−s·a_i·Z_i) ≥ p·Σ_i (1 − exp(−s·a_i)) ≥ p·m·(1 − exp(−s/m)), by convexity: the weighted error
    rate x has the Chernoff bound of a Poisson distribution. Hoeffding's inequality, p − x ≤ √(L/(2m)), holds too.
    """
    errors, sizes = samples.errors, np.maximum(samples.sizes, 1.0)
    exact = 1.0 - clopper_pearson_lower(np.rint((1.0 - errors) * sizes), np.broadcast_to(sizes, errors.shape), eta)
    slack = -np.log(eta) / sizes
    chernoff = np.minimum(poisson_upper(errors, slack), errors + np.sqrt(slack / 2.0))
    bounds = np.clip(np.where(samples.binomial, exact, chernoff), errors, 1.0)
    return np.where(samples.sizes > 0, bounds, 1.0)


def poisson_upper(x: Floats, slack: Floats) -> Floats:
    """The p ≥ x with p − x − x·ln(p/x) = slack, from above by Newton's method: the function is convex."""
    p = (np.sqrt(slack / 2.0) + np.sqrt(slack / 2.0 + x)) ** 2  # above, since ln(1 + t) ≤ t − t²/(2(1 + t)) for t ≥ 0
    for _ in range(NEWTON_STEPS):
        excess = p - x - xlogy(x, p) + xlogy(x, x) - slack
        p = p - np.divide(excess * p, p - x, out=np.zeros_like(p), where=p > x)
    return p


def simultaneous_error_upper(samples: ClassSamples, eta: float) -> Floats:
    """Upper bounds of the error rates of all classes that hold at once with probability 1 − eta.

    Classes are independent, so each may fail with probability 1 − (1 − eta)^(1/K). Absent classes need no bound.
    """
    n_present = np.count_nonzero(samples.sizes)
    return error_upper(samples, float(-np.expm1(np.log1p(-eta) / n_present)) if eta < 1 else 1.0)


def largest_error_upper(samples: ClassSamples, eta: float) -> Floats:
    """Upper bound of the largest error rate of all classes."""
    return np.asarray(error_upper(samples, eta).max(axis=-1))


def mean_error_upper(samples: ClassSamples, priors: Floats, eta: float) -> Floats:
    """Upper bound of the error rate Σ π_l·p_l under given class priors π.

    With T = Σ π_l·x_l for the observed error rates x, all s > 0 satisfy Σ_l Λ_l(p_l) ≤ s·T + L, where
    Λ_l(p) = −n_l·ln(1 − p·k_l) and k_l = 1 − exp(−s·π_l/n_l); Λ_l(p) ≥ n_l·k_l·p for unequal weights, by convexity. The
    largest Σ π_l·p_l under this constraint is at most Σ_l max_p (π_l·p − μ·Λ_l(p)) + μ·(s·T + L), the Lagrange dual,
    for every s and μ.
    """
    known = samples.sizes > 0
    n, pi, binomial = samples.sizes[known], np.maximum(priors[known], SMALLEST_PRIOR), samples.binomial[known]
    observed = samples.errors[..., known] @ pi

    def best_dual(log_s: Floats) -> Floats:
        s = np.exp(log_s)[..., np.newaxis]
        k = -np.expm1(-s * pi / n)
        scale = pi / (n * k)  # the Lagrange multiplier is a multiple of 1/s

        def dual(log_nu: Floats) -> Floats:
            mu = np.exp(log_nu)[..., np.newaxis] / s
            p = np.where(binomial, np.clip((1.0 - mu / scale) / k, 0.0, 1.0), mu < scale)
            costs = np.where(binomial, -n * np.log1p(-np.where(binomial, p * k, 0.0)), n * k * p)
            budget = s[..., 0] * observed - np.log(eta)
            return np.asarray((pi * p - mu * costs).sum(axis=-1) + mu[..., 0] * budget)

        largest = np.log((s * scale).max(axis=-1))
        return golden_section(dual, largest - 6.0, largest, 24)[1]

    shape = observed.shape
    low, high = np.log(n.min() / 100.0), np.log(100.0 * (n / pi).max())
    bound = golden_section(best_dual, np.full(shape, low), np.full(shape, high), 24)[1]
    return np.asarray(np.minimum(bound + priors[~known].sum(), 1.0))


def geometric_mean_lower(samples: ClassSamples, eta: float) -> Floats:
    """Lower bound of the geometric mean G of the recalls r_l.

    Let R_l of n_l samples be predicted correctly, and (n)_k = n·(n − 1)⋯(n − k + 1). The factorial moments of a
    binomial distribution are E (R_l)_k = (n_l)_k·r_l^k, so G^(kK) is the expectation of Π_l (R_l)_k/(n_l)_k. By
    Markov's inequality a test at level η rejects G if η·Π_l (R_l)_k/(n_l)_k > G^(kK). The order k may depend on G: it
    is the order that would give the largest bound in the typical case that all recalls are the same.

    With unequal weights it is the geometric mean of simultaneous bounds of the recalls.
    """
    if not samples.sizes.all():
        return np.zeros(samples.errors.shape[:-1])
    if not samples.binomial.all():
        recalls = 1.0 - simultaneous_error_upper(samples, eta)
        return np.asarray(np.prod(recalls ** (1.0 / samples.n_classes), axis=-1))
    sizes, n_alike = np.unique(samples.sizes, return_counts=True)
    orders = np.unique(np.geomspace(1.0, sizes.min(), MAX_ORDERS).round())

    def log_bound(log_moment: Floats, k: float) -> Floats:
        log_product = log_moment - n_alike @ log_falling(sizes, k) + np.log(eta)
        return np.asarray(np.minimum(log_product, 0.0) / (k * samples.n_classes))

    alike = TYPICAL_RECALLS[:, np.newaxis] * sizes
    typical = np.stack([log_bound(log_falling(alike, k) @ n_alike, k) for k in orders], axis=1)
    tops = np.append(np.maximum.accumulate(np.exp(typical.max(axis=1)))[:-1], 1.0)
    correct = np.rint((1.0 - samples.errors) * samples.sizes)
    low, bound = 0.0, np.full(correct.shape[:-1], np.nan)
    for k, top in zip(orders[typical.argmax(axis=1)], tops, strict=True):  # G in (low, top] is tested by order k
        least = np.exp(log_bound(log_falling(correct, k).sum(axis=-1), k))  # that is not rejected
        bound = np.where(np.isnan(bound) & (least <= top), np.maximum(least, low), bound)
        low = top
    return bound


def log_falling(x: Floats, k: float) -> Floats:
    """Logarithm of (x)_k, −∞ for x < k."""
    return np.where(x >= k, gammaln(x + 1.0) - gammaln(np.maximum(x - k, 0.0) + 1.0), -np.inf)


# The norm


def norm_upper(samples: ClassSamples, eta: float) -> Floats:
    """Upper bound of ‖C‖, at most √(K−1), the largest norm that there is.

    With two classes ‖C‖ is the larger of the two error rates. Otherwise the rows of absent classes, of which each has
    a norm of at most 1, are split off: ‖C‖² ≤ ‖C of the present classes‖² + number of absent classes.
    """
    largest = np.sqrt(samples.n_classes - 1.0)
    if samples.n_classes <= 2:
        return np.minimum(largest_error_upper(samples, eta), largest)
    known = samples.sizes > 0
    if known.all():
        return np.minimum(present_norm_upper(samples, eta), largest)
    present = ClassSamples(samples.confusion[..., known, :], samples.sizes[known], samples.binomial[known])
    n_absent = np.count_nonzero(~known)
    return np.minimum(np.sqrt(present_norm_upper(present, eta) ** 2 + n_absent), largest)


def present_norm_upper(samples: ClassSamples, eta: float) -> Floats:
    """Upper bound of ‖C‖ from Chernoff's inequality for T = uᵀC_S v.

    Let τ = ‖C‖ and q = τu = Cv, so 0 ≤ q ≤ min(τ, 1). A sample of class l adds u_l·v_j/n_l to T if it is predicted as
    j ≠ l. As 1 − exp(−bv) ≥ v·(1 − exp(−b)) for 0 ≤ v ≤ 1, Chernoff's inequality with s = σ·τ implies

        Σ_l ψ_l(q_l) ≤ σ·qᵀC_S v + L,    ψ_l(q) = −n_l·ln(1 − q·(1 − exp(−σq/n_l))).

    Here ψ_l(q) ≥ σ·Φ_l·q² for 0 ≤ q ≤ min(τ, 1), see `quadratic_factors`, and uᵀC_S v ≤ ‖C_Sᵀu‖ ≤ c/2 + ‖C_Sᵀu‖²/(2c)
    for every c > 0. Division by σ·τ gives τ·uᵀΦu ≤ uᵀAu with A = C_S·C_Sᵀ/(2c) + (c/2 + L/(στ))·I. So τ ≤ F(τ), the
    largest eigenvalue of Φ^(−1/2)·A·Φ^(−1/2). F decreases, so ‖C‖ ≤ max(t, F(t)) for every t > 0.

    This holds for every σ, c and t. The search for good ones affects how tight the bound is, not whether it holds.
    """
    matrices = samples.confusion.reshape(-1, *samples.confusion.shape[-2:])
    bound = np.full(len(matrices), np.sqrt(samples.n_classes))
    low = np.full(len(matrices), np.log(0.1))
    high = np.full(len(matrices), np.log(100.0) + 2.0 * np.log(samples.sizes.max() + 1.0))
    active = np.arange(len(matrices))
    for n_steps in SEARCH_STEPS:  # a bound on the norm bounds q, which tightens the bound
        confusion = matrices if active.size == len(matrices) else matrices[active]  # no copy of a large one

        def bound_by(
            log_sigma: Floats, n_power: int = POWER_STEPS, confusion: Floats = confusion, top: Floats = bound[active]
        ) -> Floats:
            sigma = np.exp(log_sigma)
            factors = quadratic_factors(sigma, np.minimum(top, 1.0), samples)
            return solve_norm(confusion, factors, -np.log(eta) / sigma, top, n_power)

        best, _ = golden_section(bound_by, low[active], high[active], n_steps)
        before, bound[active] = bound[active], np.minimum(bound[active], bound_by(best, LAST_POWER_STEPS))
        low[active], high[active] = best - 1.5, best + 1.5
        active = active[bound[active] < (1.0 - SEARCH_TOLERANCE) * before]
        if not active.size:
            break
    return bound.reshape(samples.confusion.shape[:-2])


def quadratic_factors(sigma: Floats, top: Floats, samples: ClassSamples) -> Floats:
    """Φ_l with ψ_l(q) ≥ σ·Φ_l·q² for all 0 < q ≤ top.

    ψ_l(q)/(σq²) is the product of φ(σq/n) = (1 − exp(−σq/n))·n/(σq), which decreases in q, and −ln(1 − x)/x with
    x = q·(1 − exp(−σq/n)), which increases. So within a cell of q it is at least the first at the right end times the
    second at the left end. With unequal weights the second is replaced by 1, and n is the effective number of samples:
    Σ_i a_i·φ(a_i·σq) ≥ φ(σq/n), since φ is convex.
    """
    q = top[..., np.newaxis, np.newaxis] * CELLS
    b = sigma[..., np.newaxis, np.newaxis] * q / samples.sizes[:, np.newaxis]
    decay = -np.expm1(-b)
    x = (q * decay)[..., 1:-1]
    growth = np.ones((*decay.shape[:-1], len(CELLS) - 1))
    np.divide(-np.log1p(-x), x, out=growth[..., 1:], where=samples.binomial[:, np.newaxis] & (x > 0))
    return np.asarray((growth * decay[..., 1:] / b[..., 1:]).min(axis=-1))


def solve_norm(confusion: Floats, factors: Floats, rest: Floats, start: Floats, n_steps: int) -> Floats:
    """max(t, F(t)) for a t near the solution of t = F(t), by the power method.

    The matrix is not negative, so its largest eigenvalue is at most the largest ratio (Mz)_l/z_l for every z > 0
    (Collatz and Wielandt). So every step gives a bound; c and z may oscillate, hence the smallest of them.
    """
    scale = 1.0 / np.sqrt(factors)
    z, t = np.ones_like(scale), start
    c, bound = np.ones_like(t), np.full_like(t, np.inf)
    for _ in range(n_steps):
        u = scale * z
        predicted = (u[..., np.newaxis, :] @ confusion)[..., 0, :]  # C_Sᵀu
        twice = (confusion @ predicted[..., np.newaxis])[..., 0]  # C_S·C_Sᵀu
        product = scale * (twice / (2.0 * c)[..., np.newaxis] + (c / 2.0 + rest / t)[..., np.newaxis] * u)
        value = (product / z).max(axis=-1)
        bound = np.minimum(bound, np.maximum(t, value))
        z = np.maximum(product / product.max(axis=-1, keepdims=True), SMALLEST)
        c = np.sqrt((predicted**2).sum(axis=-1) / (u**2).sum(axis=-1)) + SMALLEST
        t = np.sqrt(t * value)
    return bound


def golden_section(
    function: Callable[[Floats], Floats], low: Floats, high: Floats, n_steps: int
) -> tuple[Floats, Floats]:
    """Smallest value that a search between low and high finds, and where; element by element."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(n_steps):
        is_left = at_left < at_right
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
        new = np.where(is_left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        at_new = function(new)
        left, right = np.where(is_left, new, right), np.where(is_left, left, new)
        at_left, at_right = np.where(is_left, at_new, at_right), np.where(is_left, at_left, at_new)
    return np.where(at_left < at_right, left, right), np.minimum(at_left, at_right)
