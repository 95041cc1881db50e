"""The command `rsg`: parses, calls, prints; no logic of its own."""
