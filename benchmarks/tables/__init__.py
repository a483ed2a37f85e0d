"""What tables of all kinds cost: categories, missing values, validation, containers, odd shapes.

Run it with ``python -m benchmarks.tables``. The modules in the order of the data:

- `containers` are the kinds of tables; `timing` says how long a fit takes, `peak` how much memory.
- `categories`, `wide`, `missing`, `early_stopping`, `copies` and `odd` are the cases, `cases` is the table of them.
- `results` keeps what came out, `text` writes it as tables, `page` makes docs/tables.md of it.

What it has in common with `benchmarks.speed` it takes from there.
"""
