"""Which defaults ConfusionBoostingClassifier should have, by evidence. Run it with ``python -m benchmarks.defaults``.

The modules in the order of the data:

- `problems` are the rows and their folds, `keel` reads those of KEEL; `settings` are the parameters tried, `grid` names
  them and is what one edits.
- `bags` fits a booster on balanced bootstraps; `fits` is one fit with its `measures`,
  `running` many of them at once, `store` what is kept.
- `figures` are the means over folds as arrays, `scores` make them comparable from problem to problem.
- `decision` picks a setting, or one of the `rules`, and says what such a pick is worth on a problem that it has not
  seen; `effects` take every axis alone, `splits` look for rules. `page` writes the tables.
"""
