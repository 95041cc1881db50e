"""What makes a function a command: options in groups, `--json`, and one way to answer."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from rsg.cli.output import AsJson, console, emit
from rsg.core.progress import hushed


class Said(NamedTuple):
    """What a command answers.

    Attributes:
        values: for `--json`.
        show: prints it for a person; or what is printed, if it is a line.
        code: 0 done, 1 nothing found, 2 bad input.
        written: files of which a person is told; None stands for one that was not asked for.
    """

    values: Any
    show: Callable[[], object] | str
    code: int = 0
    written: Sequence[Path | None] = ()


def option(default: Any, about: str, *names: str, **more: Any) -> Any:
    """An option of a command, as a parameter or as a field of a group of them.

    Args:
        default: what it is unless given; `...` if it has to be given.
        about: what it means, for people.
        names: how it is written, if not as the parameter is called.
        more: what `typer.Option` takes besides.
    """
    told = {"option": typer.Option(*names, help=about, **more)}
    return field(default=MISSING if default is ... else default, metadata=told)


def command(function: Callable[..., Said]) -> Callable[..., None]:
    """The function as a command: `--json` is added, and a parameter that is a dataclass becomes an option per field."""
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    groups = {name: hints[name] for name in parameters if is_dataclass(hints[name])}

    @wraps(function)
    def run(as_json: bool, **given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
        with hushed(as_json):
            said = function(**given)
        if as_json:
            emit(said.values)
        else:
            if isinstance(said.show, str):
                console().print(said.show, markup=False)
            else:
                said.show()
            for path in filter(None, said.written):
                console().print(f"\nwritten to {path}", markup=False)
        if said.code:
            raise typer.Exit(said.code)

    def options() -> Iterator[Parameter]:
        for name, parameter in parameters.items():
            if name in groups:
                within = get_type_hints(groups[name], include_extras=True)
                yield from (_parameter(one.name, within[one.name], one) for one in fields(groups[name]))
            else:
                yield _parameter(name, hints[name], parameter.default)
        yield Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)

    run.__signature__ = inspect.Signature(list(options()))  # type: ignore[attr-defined]
    return run


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    """A parameter as typer reads it; what `option` was told becomes a part of its type."""
    if isinstance(default, Field):
        hint = Annotated[hint, default.metadata["option"]] if default.metadata else hint
        default = Parameter.empty if default.default is MISSING else default.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def lazily(commands: Mapping[str, str]) -> type[TyperGroup]:
    """A group of commands that imports one when it is called: the list of all needs only a line about each.

    A command has the name of its file; `SETTINGS` there, if there are any, say how typer reads its words.
    """

    class Group(TyperGroup):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            self.commands = {name: TyperCommand(name, help=about) for name, about in commands.items()}

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, _, rest = super().resolve_command(ctx, args)
            return name, _load(str(name)), rest

    return Group


def _load(name: str) -> Any:
    """A command, imported."""
    place = "evaluate" if name == "eval" else name  # which is a function of Python's
    module = import_module(f"rsg.cli.{place}")
    found = getattr(module, place)
    if not isinstance(found, typer.Typer):
        function = found
        found = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        found.command(name, context_settings=getattr(module, "SETTINGS", None))(function)
    return typer.main.get_command(found)
