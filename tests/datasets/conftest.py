"""A local web server that can be told to misbehave, and clean surroundings for every test."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Site:
    """What the server has, what it is to do wrong, and what it was asked."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    statuses: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))  # answered first, one each
    cuts: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))  # bytes after which to hang up
    requests: list[str] = field(default_factory=list)

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/")
            site.requests.append(name)
            if site.statuses[name]:
                self.send_error(site.statuses[name].pop(0))
                return
            if name not in site.files:
                self.send_error(404)
                return
            body = site.files[name]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: site.cuts[name].pop(0) if site.cuts[name] else None])
            self.close_connection = True

        def log_message(self, *args) -> None:
            pass

    return Handler


@pytest.fixture
def site():
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    site.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of this test alone, and no KREIN_DATA."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("KREIN_CACHE", str(folder))
    monkeypatch.delenv("KREIN_DATA", raising=False)
    # no proxy between the tests and their own server
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return folder
