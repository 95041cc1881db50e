"""The formats of demonstrations that others have: each is one file here, and one entry in this table."""

from pathlib import Path

from rsg.core import extras
from rsg.core.errors import StoreError, unknown
from rsg.demos.formats.folder import Folder
from rsg.demos.formats.format import Format as Format, Options as Options, Recording as Recording
from rsg.demos.formats.jsonl import JsonLines
from rsg.demos.formats.lerobot import LeRobot
from rsg.demos.formats.minari import Minari
from rsg.demos.formats.npz import Npz
from rsg.demos.formats.robomimic import Robomimic

EVERY: tuple[Format, ...] = (Npz(), JsonLines(), Minari(), LeRobot(), Robomimic(), Folder())
STORE = Folder.name
LABELLED = (JsonLines.name, Minari.name, LeRobot.name, Robomimic.name)
"""The formats in which labels have a place."""
FORMATS = {one.name: one for one in EVERY}
_NEEDING = {"minari": "minari", "lerobot": "pyarrow", "robomimic": "h5py"}  # packages of the extra `formats`


def format_of(source: str, name: str | None = None) -> Format:
    """The format of a source: the one that is named, or the one that it looks like."""
    fits = (one for one in EVERY if one.fits(source))
    found = _named(name) if name else next(fits, None)
    if found is None:
        there = Path(source).is_dir()
        is_none = f"{source} is a folder without meta/info.json (LeRobot) or manifest.json (a store)"
        problem = is_none if there else f"cannot import '{source}'"
        kinds = "a .npz, .jsonl or .hdf5 file, a folder of LeRobot's, or minari:ID for a Minari dataset"
        raise StoreError(f"{problem}; give {kinds}")
    return _usable(found)


def format_for(target: str, name: str | None = None) -> Format:
    """The format of something to write: the one that is named, or the one that its name tells."""
    found = _named(name) if name else next((one for one in EVERY if one.suits(target)), None)
    if found is None or not found.target:
        kinds = ", ".join(one.target for one in EVERY if one.target)
        raise StoreError(f"cannot export to '{target}'; give one of {kinds}, or --format")
    return _usable(found)


def _named(name: str) -> Format:
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    return FORMATS[name]


def _usable(found: Format) -> Format:
    """The same, if the packages that it needs are there."""
    module = _NEEDING.get(found.name)
    if module and not extras.there(module):
        raise StoreError(f"the format {found.name} needs the package {module}; {extras.command('formats')}")
    return found
