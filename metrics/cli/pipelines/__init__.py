"""Commands for pipelines: gate, audit, review, badge, embed."""
