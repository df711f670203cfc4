"""Compiled kernels on disk, so that only the first process of a machine compiles.

In: what numba compiled. Out: the same in the next process, or nothing: a file that is damaged, made by another version,
for another processor or by another user is not read, and where nothing can be written, nothing is. A file is its
SHA-256 followed by numba's own serialisation; its name is a hash of all that it depends on.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).with_name("compiled.py")
_DIGEST = 32
_READY = "ready"


def cache_folder() -> Path:
    """Where caches of this user stand: `UCL_CACHE_DIR`, else the platform's own place."""
    chosen = os.environ.get("UCL_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "ucl" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ucl"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ucl"


def kernel_folder() -> Path:
    """The folder of these kernels, for this Python and this numba; found without importing numba."""
    depends_on = (KERNELS.read_bytes(), sys.version.encode(), metadata.version("numba").encode())
    return cache_folder() / f"kernels-{hashlib.sha256(b'|'.join(depends_on)).hexdigest()[:16]}"


def is_ready() -> bool:
    """Whether all kernels were put into the cache: a hint that loading them will be quick."""
    try:
        return (kernel_folder() / _READY).exists()
    except (OSError, RuntimeError, metadata.PackageNotFoundError):
        return False


def mark_ready() -> None:
    _write(kernel_folder() / _READY, b"")


def read(name: str, depends_on: str) -> Any:
    """What `write` kept under this name for the same dependencies, or None."""
    try:
        path = _path(name, depends_on)
        if not (_is_ours(path.parent) and _is_ours(path)):
            return None
        data = path.read_bytes()
        if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
            return None
        return pickle.loads(data[_DIGEST:])  # our own file, whole
    except Exception:  # whatever is wrong with a cache, compiling is the answer
        return None


def write(name: str, depends_on: str, data: bytes) -> None:
    """Keeps data, or doesn't."""
    try:
        _write(_path(name, depends_on), hashlib.sha256(data).digest() + data)
    except (OSError, RuntimeError):
        return


def _path(name: str, depends_on: str) -> Path:
    return kernel_folder() / f"{name}-{hashlib.sha256(depends_on.encode()).hexdigest()[:16]}"


def _is_ours(path: Path) -> bool:
    """Whether only this user can have written it."""
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _write(path: Path, data: bytes) -> None:
    """All or nothing, under the final name."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(data)
        os.replace(file.name, path)
    except OSError:
        return
