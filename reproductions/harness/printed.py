"""What the paper prints of all methods, by world; which of it belongs to a world, its domain knows."""

from rsg.domain import find

WORLDS = ("crafting", "playroom")
EPOCH = 30  # batches
EPOCHS = {"rsg": 60, "irl": 60, "bc": 150, "bc-fsm": 150, "lstm": 200}  # of training
PAPER: dict[str, dict[str, tuple[float, float]]] = {  # success in percent, compositional and novel
    world: {
        method: (round(100 * told.compositional, 1), round(100 * told.novel, 1))
        for method, told in find(world).published.items()
        if told.compositional is not None and told.novel is not None
    }
    for world in WORLDS
}
PAPER_TIMES: dict[str, dict[str, tuple[int, float, float | None]]] = {  # epochs, minutes of each, seconds of a plan
    world: {
        method: (EPOCHS[method], round(told.training / 60 / EPOCHS[method], 1), told.plan)
        for method, told in find(world).published.items()
        if told.training is not None
    }
    for world in WORLDS
}
