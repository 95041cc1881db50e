"""What processes do in the tests of the pool."""

import os
import signal
import time

from rsg.core.errors import RsgError


class Works:
    def __init__(self, folder):
        self.folder, self.warmed = folder, False

    def warm(self):
        self.warmed = True

    def do(self, kind, asked, tell):
        return getattr(self, kind)(asked, tell)

    def add(self, asked, tell):
        return asked["a"] + asked["b"]

    def who(self, asked, tell):
        return os.getpid()

    def fail(self, asked, tell):
        raise RsgError("that makes no sense")

    def crash(self, asked, tell):
        raise ZeroDivisionError("a fault")

    def die(self, asked, tell):
        os.kill(os.getpid(), signal.SIGKILL)

    def count(self, asked, tell):
        """Ends when it is told to."""
        number = 0
        while not tell({"number": number}):
            number += 1
            time.sleep(0.01)
        return number

    def deaf(self, asked, tell):
        time.sleep(asked["seconds"])
        return "slept"
