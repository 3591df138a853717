"""The command `stepcache`. Only the way in lives here; the commands are in `app`."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; without its extra, say how to get it."""
    try:
        from stepcache.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"rich", "typer"}:
            raise
        sys.stderr.write('the command line needs its extra: pip install "stepcache[cli]"\n')
        raise SystemExit(2) from None
    app()
