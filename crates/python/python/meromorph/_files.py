"""Files that are written whole or not at all."""

from __future__ import annotations

import os


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file under another name and renames it. Without success nothing is left of it, and a file that was
    there stays.
    """
    path = os.fsdecode(path)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.remove(part)
        raise
