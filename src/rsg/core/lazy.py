"""Names of a package that are loaded when first asked for, so that what needs no torch does not wait for it."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package; homes: its modules, and the names that each gives, with blanks between them."""
    home = {name: module for module, names in homes.items() for name in names.split()}

    def find(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        found = vars(sys.modules[package])[name] = getattr(import_module(f"{package}.{home[name]}"), name)
        return found

    return find
