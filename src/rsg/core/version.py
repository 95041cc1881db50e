"""The version of rsg, written once."""

__version__ = "0.2.0"
