"""Compiled kernels on disk, so that only the first process of a machine compiles.

In: what numba compiled. Out: the same in the next process, or nothing: a file that is damaged, made by another version,
for another processor or by another user is not read, and where nothing can be written, nothing is. A file is a keyed
digest followed by numba's own serialisation; its name is a hash of all that it depends on.

What is read back is run, so it has to be our own. The key is random, this user's, and never leaves the cache folder: a
kernel that was copied in from elsewhere, or that carries no more than a checksum, is not read, and neither is one in a
place where another user (but root) could have put or changed it. What this can't stop is the user's own account:
whoever can read this user's files has the key, and whoever can write them needs no cache to run code.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import pickle
import secrets
import stat
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

_ENGINES = Path(__file__).parent
SOURCES = (_ENGINES / "blocks", _ENGINES.parent / "crowd")
_DIGEST = 32
_KEY = "kernels.key"
_READY = "ready"
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


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
    depends_on = (_known_sources(), sys.version.encode(), metadata.version("numba").encode())
    return cache_folder() / f"kernels-{hashlib.sha256(b'|'.join(depends_on)).hexdigest()[:16]}"


@cache
def _known_sources() -> bytes:
    """As this process found them first: it goes on with those, though they be replaced while it runs."""
    return sources_digest()


def sources_digest() -> bytes:
    """Of the kernels' sources as they stand there now."""
    digest = hashlib.sha256()
    for path in (path for folder in SOURCES for path in sorted(folder.glob("*.py"))):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


def is_ready() -> bool:
    """Whether all kernels were put into the cache: a hint that loading them will be quick."""
    try:
        return _contents(kernel_folder() / _READY) is not None
    except (OSError, RuntimeError, metadata.PackageNotFoundError):
        return False


def is_writable() -> bool:
    """Whether kernels that are compiled would be kept."""
    try:
        return _keep(kernel_folder() / "writable", b"")
    except (OSError, RuntimeError, metadata.PackageNotFoundError):
        return False


def mark_ready() -> None:
    """Says that all kernels are in the cache; where that can't be said, it isn't."""
    try:
        _keep(kernel_folder() / _READY, b"")
    except (OSError, RuntimeError):
        return


def read(name: str, depends_on: str) -> Any:
    """What `write` kept under this name for the same dependencies, or None."""
    try:
        data = _contents(_path(name, depends_on))
        return None if data is None else pickle.loads(data)  # our own file, whole
    except Exception:  # whatever is wrong with a cache, compiling is the answer
        return None


def write(name: str, depends_on: str, data: bytes) -> bool:
    """Keeps data, or doesn't: then it says so. What was compiled while its sources were replaced may be of either."""
    try:
        return sources_digest() == _known_sources() and _keep(_path(name, depends_on), data)
    except (OSError, RuntimeError):
        return False


def _path(name: str, depends_on: str) -> Path:
    return kernel_folder() / f"{name}-{hashlib.sha256(depends_on.encode()).hexdigest()[:16]}"


# --- files with a keyed digest --------------------------------------------------------------------------------------


def _contents(path: Path) -> bytes | None:
    """What `_keep` put into the file; None where it was not `_keep`, or may have been another's."""
    key, data = _read_key(), _own_bytes(path)
    if key is None or data is None or not hmac.compare_digest(_digest(key, path, data[_DIGEST:]), data[:_DIGEST]):
        return None
    return data[_DIGEST:]


def _keep(path: Path, data: bytes) -> bool:
    """Writes the file whole or not at all, and only where no other user can change it. Raises `OSError`."""
    _make_folder(path.parent)
    if not _is_safe(path.parent):
        return False
    key = _read_key() or _new_key()
    if key is None:
        return False
    _write(path, _digest(key, path, data) + data)
    return True


def _digest(key: bytes, path: Path, data: bytes) -> bytes:
    """Of the content and of the name, so that no file passes for another."""
    return hmac.digest(key, f"{path.parent.name}/{path.name}\0".encode() + data, "sha256")


def _read_key() -> bytes | None:
    key = _own_bytes(cache_folder() / _KEY, hidden=True)
    return key if key is not None and len(key) == _DIGEST else None


def _new_key() -> bytes | None:
    """In place of one that can't be used; what another process signs meanwhile with its own is compiled once more."""
    _write(cache_folder() / _KEY, secrets.token_bytes(_DIGEST))
    return _read_key()


def _write(path: Path, data: bytes) -> None:
    """All or nothing, under the final name; a disk that is full keeps no part of it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """With all above it, for this user alone, whatever the umask is."""
    for missing in reversed([above for above in (folder, *folder.parents) if not above.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


# --- whose files they are -------------------------------------------------------------------------------------------


def _own_bytes(path: Path, hidden: bool = False) -> bytes | None:
    """A plain file that only this user can have written, in a safe place; `hidden`: and that no other user can read.

    The file that is looked at is the one that is read: links are not followed. None for any other, and for none.
    """
    try:
        if not _is_safe(path.parent):
            return None
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NOFOLLOW", 0))) as file:
            is_ours = _is_ours(os.fstat(file.fileno()), _FOR_OTHERS if hidden else _WRITABLE)
            return file.read() if is_ours else None
    except OSError:
        return None


def _is_ours(status: os.stat_result, forbidden: int) -> bool:
    if not stat.S_ISREG(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & forbidden)


def _is_safe(folder: Path) -> bool:
    """Whether no other user but root can put files into the folder, or another folder in its place."""
    if not hasattr(os, "getuid"):
        return True
    user = os.getuid()
    folder = folder.resolve()
    if folder.stat().st_uid != user or folder.stat().st_mode & _WRITABLE:
        return False
    for above in _above(folder):
        status = above.stat()
        # In a shared folder with the sticky bit, such as `/tmp`, nobody can replace what is another's.
        if status.st_uid not in (user, 0) or (status.st_mode & _WRITABLE and not status.st_mode & stat.S_ISVTX):
            return False
    return True


def _above(folder: Path) -> Iterator[Path]:
    """The folders above one, up to the user's home, or to the root where it does not stand below that."""
    home = Path.home().resolve()
    for above in folder.parents:
        yield above
        if above == home:
            return
