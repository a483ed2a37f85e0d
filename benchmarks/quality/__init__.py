"""How good predictions are, and how long a fit takes: problems × methods. Run ``python -m benchmarks.quality``.

- `problems` load the data, `methods` fit classifiers, `measures` score predictions, `plan` sets the amount of work.
- `comparisons` has the two of them: `holdout` splits eight problems once, `folds` cross-validates nine data sets.
- `running` runs a comparison, `store` keeps the entries.
- `ranks` and `verdicts` compare methods; `tables` and `page` write docs/quality.md.
"""
