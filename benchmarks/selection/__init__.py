"""Study of a fit that selects smoothing, depth and rounds on held-out samples, beside simpler and other ones.

Only tables that the selection was tuned on take part, so nothing here says how good it is on others: that is the
question of `benchmarks.quality`.
"""
