"""What makes a function a command: options in groups, `--json`, and one way to answer."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer
from rich.console import RenderableType
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from rsg.cli.output import AsJson, emit, say, to_write
from rsg.core.errors import RsgError
from rsg.core.progress import hushed

if TYPE_CHECKING:
    from rsg.domain import Domain


class Said(NamedTuple):
    """What a command answers."""

    values: object  # for `--json`
    # what a person sees: a text as it is, or one thing after the other, where text may have markup
    show: Iterable[RenderableType] | str
    code: int = 0  # 0 done, 1 nothing found, 2 bad input
    written: Sequence[Path | None] = ()  # files of which a person is told; None stands for one that was not asked for


Place = Annotated[str | None, "place"]
"""A parameter of this type: the place that was asked for, by the option that the world has for it."""
Pictures = Annotated[dict[str, Path], "pictures"]
"""A parameter of this type: the pictures that the world offers and that were asked for, and where they go."""


def option(default: Any, about: str, *names: str, **more: Any) -> Any:
    """An option of a command, as a parameter or as a field of a group of them.

    names: how it is written, if not as the parameter is called; more: what `typer.Option` takes besides. A default of
    `...`: it has to be given.
    """
    told = {"option": typer.Option(*names, help=about, **more)}
    return field(default=MISSING if default is ... else default, metadata=told)


def command(function: Callable[..., Said]) -> Callable[..., None]:
    """The function as a command: `--json` is added, and a parameter that is a dataclass becomes an option per field.

    What a world offers, `Place` and `Pictures`, is added once it is known which (`suit`). Help has examples of it: in
    the docstring stand `{world}`, `{task}`, `{goal}` and `{place}`.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters

    @wraps(function)
    def run(as_json: bool, **given: object) -> None:
        with hushed(as_json):
            said = function(**{name: _value(name, hints[name], given) for name in parameters})
        if as_json:
            emit(said.values)
        else:
            written = [f"\nwritten to {path}" for path in said.written if path]
            shown = [Text(said.show)] if isinstance(said.show, str) else said.show
            for part in chain(shown, map(Text, written)):
                say(part)
        if said.code:
            raise typer.Exit(said.code)

    def suit(words: Sequence[str] | None) -> None:
        asks = Place in hints.values() or Pictures in hints.values() or "{world}" in (function.__doc__ or "")
        domain = world_in(words) if words is not None and asks else None
        options = [_options(name, hints[name], one.default, domain) for name, one in parameters.items()]
        as_json = Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
        run.__signature__ = inspect.Signature([*chain(*options), as_json])  # type: ignore[attr-defined]
        run.__doc__ = _with_examples(function.__doc__ or "", domain) if words is not None else function.__doc__

    run.suit = suit  # type: ignore[attr-defined]
    suit(None)
    return run


_DRAWN = "picture_"  # before the name of a parameter that is a picture


def _options(name: str, hint: object, default: object, domain: "Domain | None") -> Iterator[Parameter]:
    """The options that a parameter of a command stands for, in a domain if one is known."""
    if is_dataclass(hint):
        within = get_type_hints(hint, include_extras=True)
        yield from (_parameter(one.name, within[one.name], one) for one in fields(hint))
    elif hint == Place:
        if domain and domain.place_option:
            names, value, about = domain.place_option
            yield _parameter(name, str | None, option(None, about, *names, metavar=value))
    elif hint == Pictures:
        for key, picture in domain.pictures.items() if domain else ():
            told = option(None, picture.about, f"--{key}", metavar="FILE", callback=to_write(".png"))
            yield _parameter(f"{_DRAWN}{key}", Path | None, told)
    else:
        yield _parameter(name, hint, default)


def _value(name: str, hint: object, given: Mapping[str, object]) -> object:
    """What a parameter of a command is, by what was given for its options."""
    if is_dataclass(hint):
        return hint(**{one.name: given[one.name] for one in fields(hint)})  # type: ignore[operator]
    if hint == Pictures:
        return {key.removeprefix(_DRAWN): path for key, path in given.items() if key.startswith(_DRAWN) and path}
    return given.get(name)  # a place is not given where there is no option for it


def world_in(words: Sequence[str]) -> "Domain | None":
    """The domain that the words of a command name, if there is one; what is wrong with it, the command says."""
    from rsg.domain import find, installed

    for word in words:
        if word in installed() or (":" in word and not word.startswith("-")):
            with suppress(RsgError):
                return find(word)
    return None


def _with_examples(text: str, domain: "Domain | None") -> str:
    """A docstring with examples of a domain."""
    if "{world}" not in text:
        return text
    from rsg.domain import usual

    domain = domain or usual()
    task, goal = domain.examples
    option, somewhere = domain.place_option, domain.example_place
    place = f" {option.names[-1]} {somewhere}" if option and somewhere else ""
    return text.format(world=domain.found_as or domain.name, task=task, goal=goal, place=place)


def _parameter(name: str, hint: object, default: object) -> Parameter:
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
            return name, _load(str(name), rest), rest

    return Group


def _load(name: str, words: Sequence[str]) -> Any:
    """A command, imported, as the words that follow it need it."""
    place = "evaluate" if name == "eval" else name  # which is a function of Python's
    module = import_module(f"rsg.cli.{place}")
    found = getattr(module, place)
    if isinstance(found, typer.Typer):
        callbacks: list[Any] = [one.callback for one in found.registered_commands]
        for function in callbacks:
            if [function.__name__.strip("_")] == list(words[:1]):
                function.suit(words[1:])
    else:
        if hasattr(found, "suit"):
            found.suit(words)
        function = found
        found = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        found.command(name, context_settings=getattr(module, "SETTINGS", None))(function)
    return typer.main.get_command(found)
