"""The same in MiniGrid's UnlockPickup, where the key must be put down again: python examples/unlock_pickup.py [seed] [starts]."""

import sys

from doorkey import run

if __name__ == "__main__":
    run("MiniGrid-UnlockPickup-v0", "pick-up-box", *map(int, sys.argv[1:]), budget=12_000)
