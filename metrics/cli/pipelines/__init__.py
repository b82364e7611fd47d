"""Commands for pipelines: gate, review, badge, embed."""
