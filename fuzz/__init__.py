"""The hostile trial: ``python -m fuzz`` looks for calls, kills and interruptions that comboost does not survive.

A case is a program: short, stand-alone, with its data as literals. That is what a worker process runs and what a
finding prints, so whatever is found can be repeated. A program that ends, or that is refused with one of comboost's own
sentences, is fine; what else counts as a finding is in `judging`.

A generator is a module of this package with

``draw(random)``
    The program of one case, as text, from a ``random.Random`` and nothing else: a seed and a number make a case.
    `programs.program` adds to some lines the imports and the functions of `laws` that they name, and those of the
    generator's own module if it says so: ``program(lines, __file__)``.
``SECONDS``
    How long a case may take before it counts as a hang.
``SHARE``
    Its part of the time, beside those of the others.

and with a name in `generators.NAMES`. It is never imported by the worker, which gets the text alone.

In the order of the data: `laws` (what programs assert), `programs`; the drawing of `tables`, `targets`, `weights`,
`costs`, `parameters` and whole `problems`; the generators `inputs`, `pickles` (of `models`), `bits`, `metrics`,
`interruptions`, `kills`, `files` (of the study), `model_files`; `judging` and `worker` (the child process), `crew` (its
parent), `search` (which case is next, until the time is up), `findings` and `counts` (what is printed).
"""
