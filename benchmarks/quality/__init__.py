"""How good predictions are, and how soon: problems × methods. Run it with ``python -m benchmarks.quality``.

The modules in the order of the data:

- `problems` are the rows, `measures` say how good a prediction is, `plan` how much work is done.
- `curves` is time to quality: `contestants` learn round by round, `clock` stamps their rounds.
- `folds` is quality at default parameters, by cross-validation: `methods` are those that take part.
- `running` runs a kind of comparison, `store` keeps what came out, as it comes.
- `reaching` says when a contestant was as good as another, `ranks` who is better on most sets, `verdicts` whether that
  is what was asked for.
- `curve_tables` and `fold_tables` put it into Markdown, `pictures` draws the curves, `page` writes docs/quality.md of
  all that.
"""
