"""State graphs once more, with dictionaries and lists: slow and plain. Nothing here looks at `rsg.search`."""

import numpy as np


def around(world, states, depth):
    """The states within `depth` actions of the given ones, in the order in which they are found breadth-first.

    Gives the states, for each state a list of (action, number of the state it leads to), and the given ones' numbers.
    """
    number, rows = {}, []

    def known(row, add=True):
        if row.tobytes() not in number and add:
            number[row.tobytes()] = len(rows)
            rows.append(row)
        return number.get(row.tobytes(), -1)

    path = [known(row) for row in states]
    steps = [0] * len(rows)  # from the given states
    edges = []
    for s, row in enumerate(rows):  # which grows meanwhile
        after = [known(end, steps[s] < depth) for end in world.successors(row[None])[0]]
        steps += [steps[s] + 1] * (len(rows) - len(steps))
        edges.append([(action, end) for action, end in enumerate(after)])
    return np.stack(rows), [[(a, end) for a, end in some if end >= 0] for some in edges], path
