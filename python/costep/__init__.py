"""Co-simulation of systems that exchange energy: fast, stable, accurate.

>>> import costep
>>> rig = costep.System("dual-mass")
>>> result = rig.run(stop=0.1, step="1 ms", progress=False)
>>> result.verdict
'stable'
>>> result["s1.x"].shape
(101,)
"""

from __future__ import annotations

import os as _os
import sys as _sys

from . import _costep
from ._comparison import Comparison
from ._costep import Error, __version__
from ._part import Part
from ._parts import LTI, Function, TransferFunction
from ._program import (
    Card,
    explain,
    export,
    export_fmu,
    import_project,
    inspect,
    load,
    methods,
    models,
    new_project,
    reproduce,
    resume,
    schema,
    survey,
)
from ._result import Result
from ._simulation import Simulation, Snapshot
from ._study import Study, doe
from ._sweep import Sweep, sweep
from ._system import System

__all__ = [
    "Card",
    "Comparison",
    "Error",
    "Function",
    "LTI",
    "Part",
    "Result",
    "Simulation",
    "Snapshot",
    "Study",
    "Sweep",
    "System",
    "TransferFunction",
    "__version__",
    "doe",
    "explain",
    "export",
    "export_fmu",
    "import_project",
    "inspect",
    "load",
    "methods",
    "models",
    "new_project",
    "reproduce",
    "resume",
    "schema",
    "survey",
    "sweep",
]

# FMUs get processes of their own by starting this very package, without the modules of others.
_MAIN = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "__main__.py")
_costep.launched_by(_sys.executable, ["-I", "-S", _MAIN])
_costep.heed_signals()
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_costep.forked)
