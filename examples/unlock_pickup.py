"""UnlockPickup of MiniGrid (Apache-2.0), where the key is put down again: python examples/unlock_pickup.py [seed]."""

import sys

from doorkey import run

if __name__ == "__main__":
    run("MiniGrid-UnlockPickup-v0", "pick-up-box", int(sys.argv[1]) if sys.argv[1:] else 0, budget=12_000)
