"""Average precision."""

import numpy as np

from metrics.measures.model import Family, Parameter
from metrics.measures.weights import harmonic_span
from metrics.support.arrays import FloatArray
from metrics.ties.groups import TieGroups


def _mean(groups: TieGroups, _: Parameter) -> FloatArray:
    """Expected average precision.

    E = 1/R * sum over groups of (r/n) * [(c + 1) * D + (r - 1)/(n - 1) * (n - (b + 1) * D)],
    D = H(b + n) - H(b) with harmonic numbers H. A list whose query has nothing relevant scores 0.

    Source: McSherry & Najork, ECIR 2008, section 3.3.
    """
    b, n, r, c = groups.above, groups.size, groups.relevant, groups.relevant_above
    drop = harmonic_span(b, b + n)
    from_others = np.where(n > 1, (r - 1) / np.maximum(n - 1, 1), 0.0) * (n - (b + 1) * drop)
    total = groups.per_list(r / n * ((c + 1) * drop + from_others))
    return total / np.maximum(groups.n_relevant, 1)


average_precision = Family("average_precision", _mean)
