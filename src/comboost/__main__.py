"""``python -m comboost``: the same as ``comboost``. In: what is typed. Out: what the command says."""

from comboost.cli import main

if __name__ == "__main__":
    main()
