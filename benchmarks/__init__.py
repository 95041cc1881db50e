"""Speed and robustness runs that are too long for the tests. `make bench` runs every `bench_*.py` here."""
