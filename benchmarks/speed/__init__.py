"""How fast comboost is beside its peers: problems × libraries. Run it with ``python -m benchmarks.speed``.

The modules in the order of the data:

- `problems` are the rows, `libraries` those who learn them, `checks` whether they did.
- `measuring` says how long that takes, `footprint` how much memory, `limit` what the machine could do at best and
  `instructions` what the kernels execute; `native` compiles what the last two need.
- `verdicts` compare figures with targets, `contest` is what all cases share, `rounds`, `few_values`, `leaves`,
  `binning`, `prediction` and `fits` are the kinds of cases, `cases` is the table of them.
- `machine` says where a run took place, `report` what came out, `command` which cases are run.
"""
