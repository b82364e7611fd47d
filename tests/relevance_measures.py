"""The measures that any judgments allow: all but those of subtopics."""

import metrics

MEASURES = tuple(measure for measure in metrics.MEASURES if measure.family.kind != "subtopics")
