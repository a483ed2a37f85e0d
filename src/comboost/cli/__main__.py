"""``python -m comboost.cli``: the command line where no script ``comboost`` is on the path."""

from comboost.cli import main

if __name__ == "__main__":
    main()
