"""`python -m loopwright`."""

from loopwright.cli.main import main

main()
