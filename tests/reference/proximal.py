"""The proximal step of a group lasso, row by row, as one reads it."""

import numpy as np

WEAKEST = 0.05


def shrunk(groups, amount, choosy):
    """What is left of groups of rows `[terms, networks, things, weights]`; the strongest counts over all groups."""
    out = [rows.copy() for rows in groups]
    for term, network in np.ndindex(groups[0].shape[:2]):
        strongest = max(np.linalg.norm(row) for rows in groups for row in rows[term, network])
        for rows in out:
            for row in rows[term, network]:
                size = np.linalg.norm(row)
                by = amount * np.sqrt(len(row))
                if choosy and strongest > 0:
                    by = by * strongest / (size + WEAKEST * strongest)
                row *= 0.0 if size <= by else (size - by) / size
    return out
