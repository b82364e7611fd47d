"""The present page: one sentence and one chart a slide."""
