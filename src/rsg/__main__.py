"""`python -m rsg` is the command `rsg`."""

from rsg.cli.main import main

main()
