"""The program ``costep``, and the processes that host FMUs: ``python -m costep``.

Those processes are started by the path of this file, and load the extension module alone, so that they start quickly.
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Does what the command line says."""
    here = os.path.dirname(os.path.abspath(__file__))
    if __package__:
        # Importing the package has said how it is started.
        from . import _costep
    else:
        # The folder of the package is no place to import from: its modules have names of others.
        sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
        _costep = _extension(here)
        _costep.launched_by(sys.executable, ["-I", "-S", os.path.abspath(__file__)])
    return _costep.main(["costep", *sys.argv[1:]])


def _extension(folder: str):  # type: ignore[no-untyped-def]
    """The extension module without the package around it."""
    from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec

    for suffix in EXTENSION_SUFFIXES:
        path = os.path.join(folder, "_costep" + suffix)
        if os.path.exists(path):
            import _imp

            spec = ModuleSpec("costep._costep", ExtensionFileLoader("costep._costep", path), origin=path)
            module = _imp.create_dynamic(spec)
            _imp.exec_dynamic(module)
            return module
    raise ImportError(f"no extension module in {folder}")


if __name__ == "__main__":
    sys.exit(main())
