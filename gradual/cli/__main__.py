"""`python -m gradual.cli`."""

from gradual.cli import main

main()
