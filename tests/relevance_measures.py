"""The measures that any judgments allow: all but those of subtopics."""

import metrics

MEASURES = tuple(measure for measure in metrics.MEASURES if measure.family.kind != "subtopics")


def with_cutoffs(optional, required, measures=MEASURES):
    """Names of measures with every cut-off: those that may have one, and those that must."""
    cutoffs = {"none": [""], "optional": optional, "required": required}
    return [f"{measure.name}{cutoff}" for measure in measures for cutoff in cutoffs[measure.cutoff]]
