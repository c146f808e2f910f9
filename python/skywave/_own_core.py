"""An extension with members of a user's own, in place of this package's."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from skywave._errors import SkywaveError

NAME = "skywave._core"


class OwnCoreError(SkywaveError, ImportError):
    """``SKYWAVE_CORE`` names no extension that can be loaded."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"SKYWAVE_CORE is {path}: {reason}: give the .so file of an extension")


class OwnCore(MetaPathFinder):
    """Finds the extension that Skywave imports at the path of ``SKYWAVE_CORE``."""

    def __init__(self, path: str) -> None:
        self.path = Path(path).absolute()

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the extension, if its name is asked for."""
        if name != NAME:
            return None
        if not self.path.is_file():
            raise OwnCoreError(self.path, "there is no such file")
        return spec_from_file_location(name, self.path, loader=_Loader(name, str(self.path)))


class _Loader(ExtensionFileLoader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        try:
            return super().create_module(spec)
        except ImportError as error:
            raise OwnCoreError(Path(self.path), str(error)) from error

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        # Results depend on its members, so each build is an engine of its own.
        digest = blake2b(Path(self.path).read_bytes(), digest_size=8).hexdigest()
        module.ENGINE = f"{module.ENGINE}+{digest}"  # type: ignore[attr-defined]
