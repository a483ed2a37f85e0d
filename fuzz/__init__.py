"""Fuzzing: ``python -m fuzz`` searches for calls, kills and interrupts that comboost does not survive.

A case is a program: short, stand-alone, with its data as literals. A worker process runs it, and a finding prints it,
so that every finding can be repeated. A program passes if it ends, or if comboost refuses its input with a documented
error; `worker` says what else counts as a finding.

A generator has a ``draw(random)``, which returns the program of one case and depends on a ``random.Random`` alone: a
seed and a number make a case. `programs.program` puts the imports and the functions of `properties` before the lines
that name them. `search.GENERATORS` lists the generators, with their time limits and shares of the time.

- `properties` are what programs assert, `programs` makes them complete.
- `values` (shared with the strategies of the tests), `tables` and `arguments` draw data and arguments.
- `inputs`, `bits`, `metrics`, `faults` and `model_files` (with the `models` that they damage) are the generators.
- `worker` is the child process, `processes` its parent, `search` chooses cases, `report` prints findings and counts.
"""
