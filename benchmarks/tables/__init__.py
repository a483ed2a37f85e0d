"""What tables of all kinds cost: categories, missing values, validation, containers, unusual shapes.

Run it with ``python -m benchmarks.tables``. `containers` are the kinds of tables, `cases` lists the cases, `results`
stores them, `page` writes docs/tables.md.
"""
