"""Many people, each with rules and options of their own: `Crowd`, and `score_many` for one call."""
