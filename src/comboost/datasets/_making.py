"""Synthetic classification problems with exact class sizes."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from comboost._estimators.parameters import NONE, integer, real

DEFAULT_N_SAMPLES = 1000


def make_imbalanced(
    n_samples: int | None = None,
    class_sizes: ArrayLike = (0.85, 0.12, 0.03),
    *,
    n_features: int = 10,
    n_informative: int = 4,
    n_clusters_per_class: int = 1,
    class_sep: float = 1.0,
    shuffle: bool = True,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Generate a random classification problem with exact class sizes.

    Every class has one or more clusters of samples. The centres of the clusters are drawn from a normal distribution,
    the samples of a cluster from a normal distribution of standard deviation 1 around its centre; features that are
    not informative have the centre 0 in all classes. No label is flipped.

    Parameters
    ----------
    n_samples : int, default=None
        Number of samples. By default the sum of ``class_sizes`` if these are counts, and 1000 if they are proportions.
    class_sizes : array-like of shape (n_classes,), default=(0.85, 0.12, 0.03)
        Sizes of the classes: either counts, integers of at least 1, or proportions of ``n_samples``, which are positive
        and add up to 1. Proportions are rounded so that the counts add up to ``n_samples``; a class that would be empty
        gets a sample of the largest.
    n_features : int, default=10
        Number of features.
    n_informative : int, default=4
        Number of informative features, which are the first columns. The others are noise.
    n_clusters_per_class : int, default=1
        Number of clusters of a class; its samples are divided evenly between them.
    class_sep : float, default=1.0
        Standard deviation of the centres: the larger it is, the farther apart the classes are. With 0 no feature is
        informative.
    shuffle : bool, default=True
        Whether to shuffle the samples; otherwise they are sorted by class.
    random_state : int, RandomState instance or None, default=None
        Random seed. An int gives the same bits at every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The classes, integers from 0 to n_classes - 1.

    See Also
    --------
    sklearn.datasets.make_classification : Also with redundant features and flipped labels; its class sizes are
        approximate.

    Examples
    --------
    >>> import numpy as np
    >>> from comboost.datasets import make_imbalanced
    >>> X, y = make_imbalanced(class_sizes=[500, 40, 3], random_state=0)
    >>> X.shape
    (543, 10)
    >>> np.bincount(y)
    array([500,  40,   3])
    >>> X, y = make_imbalanced(200, [0.9, 0.099, 0.001], random_state=0)
    >>> np.bincount(y)
    array([179,  20,   1])
    """
    owner = "make_imbalanced"
    n_samples = (integer(1) | NONE).read(owner, "n_samples", n_samples)
    n_features = integer(1).read(owner, "n_features", n_features)
    n_informative = integer(0).read(owner, "n_informative", n_informative)
    n_clusters_per_class = integer(1).read(owner, "n_clusters_per_class", n_clusters_per_class)
    class_sep = real(0.0, 1e6).read(owner, "class_sep", class_sep)
    if n_informative > n_features:
        raise ValueError(
            f"make_imbalanced got n_informative={n_informative} of n_features={n_features}; give at most as many."
        )
    counts = class_counts(n_samples, class_sizes)
    y = np.repeat(np.arange(len(counts)), counts)
    cluster = np.concatenate([np.arange(count) % n_clusters_per_class for count in counts])

    random = check_random_state(random_state)
    centres = class_sep * random.standard_normal((len(counts), n_clusters_per_class, n_informative))
    X = random.standard_normal((len(y), n_features))
    X[:, :n_informative] += centres[y, cluster]
    if shuffle:
        order = random.permutation(len(y))
        X, y = X[order], y[order]
    return X, y


def class_counts(n_samples: int | None, class_sizes: ArrayLike) -> np.ndarray:
    """Convert counts or proportions to counts."""
    sizes = np.asarray(class_sizes)
    counts = sizes.dtype.kind in "iu"
    if sizes.ndim != 1 or len(sizes) < 2 or not (counts or sizes.dtype.kind == "f"):
        raise ValueError(f"make_imbalanced got class_sizes={class_sizes!r}; give a list of at least two numbers.")
    if counts:
        if sizes.min() < 1:
            raise ValueError(f"make_imbalanced got class_sizes={class_sizes!r}; give every class at least one row.")
        if n_samples is not None and n_samples != sizes.sum():
            raise ValueError(
                f"make_imbalanced got n_samples={n_samples}, but class_sizes={class_sizes!r} add up to {sizes.sum()}; "
                "leave n_samples out, or give proportions."
            )
        return sizes.astype(np.int64)
    if not (np.all(sizes > 0) and abs(sizes.sum() - 1.0) <= 1e-6):
        raise ValueError(
            f"make_imbalanced got class_sizes={class_sizes!r}; give proportions, all positive and with the sum "
            "1, or counts, all integers."
        )
    return apportion(DEFAULT_N_SAMPLES if n_samples is None else n_samples, sizes)


def apportion(n_samples: int, proportions: np.ndarray) -> np.ndarray:
    """Convert proportions to counts of at least 1, rounded by the largest remainder."""
    if n_samples < len(proportions):
        raise ValueError(
            f"make_imbalanced got n_samples={n_samples} for {len(proportions)} classes; give one row for each."
        )
    quotas = n_samples * (proportions / proportions.sum())
    counts: np.ndarray = np.floor(quotas).astype(np.int64)
    largest_remainders = np.argsort(counts - quotas, kind="stable")
    counts[largest_remainders[: n_samples - counts.sum()]] += 1
    for empty in np.flatnonzero(counts == 0):
        counts[np.argmax(counts)] -= 1
        counts[empty] += 1
    return counts
