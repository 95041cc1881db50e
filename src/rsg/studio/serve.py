"""Bringing the studio up: a free port, a token where others can reach it, and the browser."""

import secrets
import socket
import webbrowser
from ipaddress import ip_address
from threading import Timer
from typing import NamedTuple

import uvicorn
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from rsg.core.errors import RsgError
from rsg.core.pictures import COLORS
from rsg.core.version import __version__
from rsg.core.workers import cores
from rsg.studio.app import service
from rsg.studio.asked import BYTES
from rsg.studio.guard import Guard, Rules
from rsg.studio.pool import Pool
from rsg.studio.shelf import Shelf

LOCAL = ("127.0.0.1", "localhost", "[::1]")
MOST_WAITING = 200
ANSWERING = "rsg.studio.answers:Answering"  # what its processes have; this one does not need it


class Served(NamedTuple):
    """A studio that can be asked: its application, the socket on which it listens, and its address."""

    app: Guard
    listening: socket.socket
    address: str

    def run(self, browser: bool) -> None:
        """Answer until Ctrl-C."""
        if browser:
            Timer(0.5, webbrowser.open, (self.address,)).start()
        config = uvicorn.Config(
            self.app, log_level="warning", timeout_keep_alive=30, timeout_graceful_shutdown=2, server_header=False
        )
        uvicorn.Server(config).run(sockets=[self.listening])


def studio(shelf: Shelf, host: str = "127.0.0.1", port: int = 8800, workers: int = 0) -> Served:
    """A studio on a port, or where that is taken on one of the next.

    host: other names than this machine's own ask for a token; workers: processes, 0: as many as there are cores, but
    two at least, so that a long job leaves one free.
    """
    alone = host in LOCAL or _is_loopback(host)
    token = "" if alone else secrets.token_urlsafe(24)
    listening = _listening(host, port)
    port = listening.getsockname()[1]
    names = (*LOCAL, host) if alone else (host, socket.gethostname(), *LOCAL)
    anyone = host in ("0.0.0.0", "::")  # then nobody knows by which name it is called; the token guards it
    hosts = frozenset() if anyone else frozenset(f"{name}:{port}".lower() for name in names)
    pool = Pool(ANSWERING, (shelf,), workers or max(2, cores()), MOST_WAITING)
    told = f"?token={token}" if token else ""
    shown = socket.gethostname() if anyone else host
    app = service(pool, Rules(hosts, token, BYTES), page(shelf))
    return Served(app, listening, f"http://{shown}:{port}/{told}")


def page(shelf: Shelf) -> str:
    """The page itself, which asks for all the rest."""
    loaders = [PackageLoader("rsg.studio"), PackageLoader("rsg.evaluation")]
    pages = Environment(loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined)
    return pages.get_template("studio.html").render(title=shelf.domain.title, version=__version__, colors=COLORS)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """A socket on the port, or on one of the next that is free."""
    for number in range(port, port + 20) if port else [0]:
        try:
            found = socket.create_server((host, number), backlog=512)
            # said to be TCP, so that answers are not held back for 40 ms (Nagle) by those who ask for the protocol
            return socket.socket(found.family, found.type, socket.IPPROTO_TCP, fileno=found.detach())
        except OSError as error:
            last = error
    raise RsgError(f"cannot listen on {host}:{port}: {last.strerror}; choose another --port or --host")
