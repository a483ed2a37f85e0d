"""How good predictions are, and how soon: problems × methods. Run it with ``python -m benchmarks.quality``.

- `problems` load the data, `measures` score predictions, `plan` sets the amount of work.
- `curves` measures quality over training time: `iterative` methods learn round by round, `clock` stamps the rounds.
- `folds` cross-validates the `methods` with default parameters.
- `running` runs a kind of comparison, `store` keeps the entries.
- `reaching`, `ranks` and `verdicts` compare methods; `curve_tables`, `fold_tables`, `pictures` and `page` write
  docs/quality.md.
"""
