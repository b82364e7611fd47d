"""Names of measures with cut-offs."""

from metrics import MEASURES

__all__ = ["MEASURES", "with_cutoffs"]


def with_cutoffs(optional, required, measures=MEASURES):
    """Names of measures with every cut-off: those that may have one, and those that must."""
    cutoffs = {"none": [""], "optional": optional, "required": required}
    return [f"{measure.name}{cutoff}" for measure in measures for cutoff in cutoffs[measure.cutoff]]
