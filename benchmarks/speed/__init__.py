"""How fast comboost is beside other libraries. Run it with ``python -m benchmarks.speed``.

- `cases` lists all cases. `rounds`, `few_values`, `leaves`, `binning`, `prediction`, `explanations`, `fits` and
  `footprint` (memory) are the kinds of cases.
- `limit` measures what the machine could do at best, `instructions` counts what the kernels execute; `native` compiles
  the programs of both.
- `report` prints and stores results, `page` writes docs/performance.md.
"""
