"""Parts that are made in code: linear ones, which are compiled, and those that are written in Python."""

from __future__ import annotations

import copy
import importlib
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from ._errors import misuse
from ._text import items, number
from ._text import name as name_text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# More are a mistake, and would only fill memory.
MOST_PORTS = 1_000_000

Ports = Union[int, Sequence[str], Mapping[str, str]]
"""Names of ports, names with their units, or how many there are."""


class LTI:
    """``x' = A x + B u, y = C x + D u`` from the state ``x0``, as a compiled part.

    >>> import costep
    >>> rig = costep.System.new(
    ...     plant=costep.LTI([[-1.0]], [[1.0]], [[1.0]], inputs=["u"], outputs=["y"], x0=[1.0]),
    ...     controller=costep.LTI([], [], [], [[-2.0]], inputs=["e"], outputs=["u"]),
    ... )
    >>> rig.connect("plant.y", "controller.e")
    >>> rig.connect("controller.u", "plant.u")
    >>> y = rig.run(stop=1, step="10 ms", progress=False)["plant.y"]
    >>> bool(abs(y[-1] - 0.0497870683678639) < 1e-6)
    True
    """

    def __init__(
        self,
        A: ArrayLike,
        B: ArrayLike,
        C: ArrayLike,
        D: ArrayLike | None = None,
        *,
        inputs: Ports | None = None,
        outputs: Ports | None = None,
        x0: ArrayLike | None = None,
    ) -> None:
        import numpy as np

        a = _matrix(A, "A")
        states = a.shape[0] if a.size else 0
        d = None if D is None else _matrix(D, "D")
        b, c = _matrix(B, "B"), _matrix(C, "C")
        if not states and d is None:
            raise misuse("an LTI without states needs D", "give D, the gain from inputs to outputs")
        m = b.shape[1] if states else d.shape[1]  # type: ignore[union-attr]
        r = c.shape[0] if states else d.shape[0]  # type: ignore[union-attr]
        d = np.zeros((r, m)) if d is None else d
        for letter, matrix, shape in (
            ("A", a, (states, states)),
            ("B", b, (states, m)),
            ("C", c, (r, states)),
            ("D", d, (r, m)),
        ):
            if matrix.size != shape[0] * shape[1] or (matrix.size and matrix.shape != shape):
                raise misuse(
                    f"{letter} has the shape {matrix.shape}, not {shape}",
                    "A is n by n, B n by inputs, C outputs by n, D outputs by inputs",
                )
        start = np.zeros(states) if x0 is None else _array(x0, "x0").ravel()
        if start.size != states:
            raise misuse(f"x0 has {start.size} entries, and there are {states} states", "give one number per state")
        self.A, self.B, self.C, self.D, self.x0 = a, b, c, d, start
        self.inputs, self.outputs = _ports(inputs, "u", m), _ports(outputs, "y", r)

    def _recipe(self) -> dict[str, Any]:
        return {
            "inputs": self.inputs,
            "outputs": self.outputs,
            "matrices": [matrix.ravel().tolist() for matrix in (self.A, self.B, self.C, self.D)],
            "start": self.x0.tolist(),
        }

    def __repr__(self) -> str:
        return f"<LTI with {len(self.x0)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


class TransferFunction(LTI):
    """``num(s) / den(s)`` with the highest powers first, as a compiled part.

    >>> TransferFunction([1.0], [0.5, 1.0])
    <LTI with 1 states, 1 inputs, 1 outputs>
    """

    def __init__(
        self, num: ArrayLike, den: ArrayLike, *, inputs: Ports | None = None, outputs: Ports | None = None
    ) -> None:
        import numpy as np

        polynomials = (np.atleast_1d(_array(p, "a polynomial")).ravel() for p in (num, den))
        top, bottom = (np.trim_zeros(polynomial, "f") for polynomial in polynomials)
        if not bottom.size or top.size > bottom.size:
            raise misuse(
                f"a transfer function of degrees {max(top.size - 1, 0)} over {max(bottom.size - 1, 0)} is no system",
                "the denominator is at least as high as the numerator, and not zero",
            )
        top, bottom = top / bottom[0], bottom / bottom[0]
        n = bottom.size - 1
        top = np.concatenate([np.zeros(n + 1 - top.size), top])
        a = np.zeros((n, n))
        if n:
            a[0] = -bottom[1:]
            a[1:, :-1] = np.eye(n - 1)
        b = np.eye(n, 1)
        c = (top[1:] - top[0] * bottom[1:]).reshape(1, n)
        super().__init__(a, b, c, [[top[0]]], inputs=inputs, outputs=outputs)


class Function:
    """A callable as a part: of NumPy, JAX or PyTorch.

    Without ``x0`` it is ``y = f(t, u)``; with it ``x' = f(t, x, u)``, which costep integrates, and ``y = output(t, x, u)``,
    or the states themselves.

    >>> import costep, math
    >>> rig = costep.System.new(
    ...     pendulum=costep.Function(lambda t, x, u: [x[1], -9.81 * math.sin(x[0]) + u[0]],
    ...                              inputs=["torque"], outputs=["angle", "speed"], x0=[0.5, 0.0]),
    ...     friction=costep.Function(lambda t, u: -0.5 * u[0], inputs=["speed"], outputs=["torque"]),
    ... )
    >>> rig.connect("pendulum.speed", "friction.speed")
    >>> rig.connect("friction.torque", "pendulum.torque")
    >>> rig.run(stop=1, step="10 ms", progress=False).verdict
    'stable'
    """

    def __init__(
        self,
        f: Callable[..., Any],
        *,
        inputs: Ports,
        outputs: Ports,
        x0: ArrayLike | None = None,
        output: Callable[..., Any] | None = None,
        direct: bool | None = None,
    ) -> None:
        if not callable(f) or not (output is None or callable(output)):
            raise misuse("a function that is no part can be made of", "give something that can be called: f(t, u)")
        self.f, self.output_of = _as_arrays(f), None if output is None else _as_arrays(output)
        self.inputs, self.outputs = _ports(inputs, "u", None), _ports(outputs, "y", None)
        self.x0 = [] if x0 is None else _array(x0, "x0").ravel().tolist()
        self.direct = (x0 is None) if direct is None else direct
        if x0 is not None and output is None and len(self.x0) != len(self.outputs):
            raise misuse(
                f"{len(self.outputs)} outputs cannot be {len(self.x0)} states",
                "give `output`, a function of t, x and u",
            )
        if x0 is None:
            self._derivatives: Callable[..., Any] = _nothing
            self._output: Callable[..., Any] = _Static(self.f)
        else:
            self._derivatives = self.f
            self._output = self.output_of or _states

    def derivatives(self, t: float, x: Any, u: Any) -> Any:
        """x' = f(t, x, u)."""
        return self._derivatives(t, x, u)

    def output(self, t: float, x: Any, u: Any) -> Any:
        """y = g(t, x, u)."""
        return self._output(t, x, u)


class _Static:
    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f

    def __call__(self, t: float, _x: Any, u: Any) -> Any:
        return self.f(t, u)


def _nothing(_t: float, _x: Any, _u: Any) -> tuple[()]:
    return ()


def _states(_t: float, x: Any, _u: Any) -> Any:
    return x


class _Tensors:
    """A module or a compiled function of PyTorch between arrays: it gets tensors of the kind that its weights have."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        weights = [weight for weight in getattr(f, "parameters", list)() if weight.is_floating_point()]
        self.kind = {"dtype": weights[0].dtype, "device": weights[0].device} if weights else {}

    def __call__(self, t: float, *arrays: Any) -> Any:
        torch: Any = importlib.import_module("torch")
        with torch.no_grad():
            given = self.f(t, *(torch.as_tensor(array, **self.kind) for array in arrays))
        return given.detach().cpu().double().numpy() if isinstance(given, torch.Tensor) else given


def _as_arrays(f: Callable[..., Any]) -> Callable[..., Any]:
    torch = sys.modules.get("torch")
    is_torch = torch is not None and isinstance(f, (torch.nn.Module, torch.jit.ScriptFunction))
    return _Tensors(f) if is_torch else f


# What the extension module gets.


def linear_part(part: Any) -> dict[str, Any] | None:
    """A linear part as a recipe: one of ours, of ``control`` or of ``scipy.signal``; nothing for others."""
    if isinstance(part, LTI):
        return part._recipe()
    origin = type(part).__module__.partition(".")[0]
    if origin not in ("control", "scipy"):
        return None
    if getattr(part, "dt", None) not in (None, 0):
        raise misuse("a part in discrete time is not linear between its samples", "give it in continuous time")
    if not hasattr(part, "A"):
        if origin == "control":
            part = importlib.import_module("control").ss(part)
        elif hasattr(part, "to_ss"):
            part = part.to_ss()
        else:
            return None
    names = [getattr(part, key, None) if origin == "control" else None for key in ("input_labels", "output_labels")]
    # Names that `control` has made up say nothing: `u[0]` is an element of an array elsewhere.
    labels = [list(known) if known and not any("[" in name for name in known) else None for known in names]
    return LTI(part.A, part.B, part.C, part.D, inputs=labels[0], outputs=labels[1])._recipe()


class StepCalls:
    """A part with a step of its own, as the extension module calls it."""

    def __init__(self, part: Any, outputs: int) -> None:
        self.part = part
        self.step = part.step
        self.zeros = [0.0] * outputs

    def start(self, t: float, u: Any) -> Any:
        begin = getattr(self.part, "start", None)
        return self.zeros if begin is None else begin(t, u)

    def get_state(self) -> Any:
        own = getattr(self.part, "get_state", None)
        return copy.deepcopy(self.part.__dict__) if own is None else own()

    def set_state(self, state: Any) -> None:
        own = getattr(self.part, "set_state", None)
        if own is None:
            self.part.__dict__.clear()
            self.part.__dict__.update(copy.deepcopy(state))
        else:
            own(state)


class EquationCalls:
    """Equations, as the extension module calls them."""

    def __init__(self, part: Any) -> None:
        self.derivatives = part.derivatives
        self.outputs = part.output


class Make:
    """Makes an instance of a part for every run: of a class, else a copy."""

    def __init__(self, part: Any, outputs: int, is_stepping: bool) -> None:
        self.part, self.outputs, self.is_stepping = part, outputs, is_stepping

    def __call__(self) -> Any:
        if not self.is_stepping:
            return EquationCalls(self.part)
        part = self.part() if isinstance(self.part, type) else copy.deepcopy(self.part)
        return StepCalls(part, self.outputs)


def code_part(name: str, part: Any) -> tuple[dict[str, Any], Make]:
    """A part that is written in Python: its recipe, and what makes its instances."""
    is_stepping = callable(getattr(part, "step", None))
    has_equations = callable(getattr(part, "derivatives", None)) and callable(getattr(part, "output", None))
    if not is_stepping and not has_equations:
        raise misuse(
            f"`{name}` is no part: {type(part).__name__} has neither `step` nor `derivatives` and `output`",
            "write a class with `inputs`, `outputs` and `step(t, dt, u)`, or name an FMU",
        )
    missing = [key for key in ("inputs", "outputs") if not hasattr(part, key)]
    if missing:
        raise misuse(f"`{name}` has no `{missing[0]}`", "list the names of its ports, or a dictionary with their units")
    if has_equations and not is_stepping and isinstance(part, type):
        part = part()
    inputs, outputs = _ports(part.inputs, "u", None), _ports(part.outputs, "y", None)
    start = None if is_stepping else _array(getattr(part, "x0", []), "x0").ravel().tolist()
    direct = bool(getattr(part, "direct", False))
    entry = {"kind": "code", "name": name, "inputs": inputs, "outputs": outputs, "start": start, "direct": direct}
    return entry, Make(part, len(outputs), is_stepping)


# Polynomials of a higher order, and earlier values further back, only carry noise.
MOST_ORDER, MOST_HISTORY = 8, 1000


def _count(method: Any, key: str, most: int) -> int:
    value = getattr(method, key, 0)
    if not isinstance(value, int) or not 0 <= value <= most:
        raise misuse(f"`{key}` of a coupling method is {value!r}", f"give an integer from 0 to {most}")
    return value


class MethodCalls:
    """A coupling method that is written in Python, as the extension module calls it."""

    def __init__(self, method: Any) -> None:
        self.method = method
        self.order = _count(method, "order", MOST_ORDER)
        self.history = _count(method, "history", MOST_HISTORY)

    @staticmethod
    def of(method: Any) -> MethodCalls:
        if isinstance(method, type):
            method = method()
        if not callable(getattr(method, "extrapolate", None)):
            raise misuse(
                f"{type(method).__name__} is no coupling method",
                'name one, `method="auto"`, or give an object with `extrapolate(t, h, z, past)`',
            )
        return MethodCalls(method)

    def extrapolate(self, t: float, h: float, z: Any, past: Any) -> Any:
        import numpy as np

        return np.asarray(self.method.extrapolate(t, h, z, past), dtype=float).ravel()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MethodCalls) and other.method is self.method

    def __hash__(self) -> int:
        return id(self.method)


def _array(values: Any, what: str) -> Any:
    """Finite numbers as an array."""
    import numpy as np

    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as cause:
        raise misuse(f"{what} is not made of real numbers: {cause}", "give numbers, in rows of one length") from None
    if not np.all(np.isfinite(array)):
        raise misuse(f"{what} has entries that are not finite", "give finite numbers")
    return array


def _matrix(values: Any, letter: str) -> Any:
    import numpy as np

    matrix = _array(values, letter)
    if matrix.ndim > 2:
        raise misuse(f"a matrix has two dimensions, not {matrix.ndim}", "give a list of rows")
    return np.atleast_2d(matrix) if matrix.size else matrix.reshape(0, 0)


def _made_port(port: Any) -> list[Any]:
    """A port by its name, or as one of ours has it: name, unit, typical size."""
    if not isinstance(port, list):
        return [name_text(port, "a port"), "", 1.0]
    if len(port) != 3:
        raise misuse(f"{port!r} is no port", 'write its name, or {"name": "unit"} for all')
    return [name_text(port[0], "a port"), name_text(port[1], "a unit"), number(port[2], "a typical size")]


def _ports(ports: Ports | None, letter: str, count: int | None) -> list[list[Any]]:
    """Ports as the extension module has them: name, unit, typical size."""
    if ports is None or isinstance(ports, int):
        wanted = (count or 0) if ports is None else ports
        if not 0 <= wanted <= MOST_PORTS:
            raise misuse(f"a part cannot have {wanted} ports", f"from 0 to {MOST_PORTS}")
        names = [letter] if wanted == 1 else [f"{letter}{i + 1}" for i in range(wanted)]
        made = [[name, "", 1.0] for name in names]
    elif isinstance(ports, Mapping):
        made = [[name_text(port, "a port"), name_text(unit or "", "a unit"), 1.0] for port, unit in ports.items()]
    elif isinstance(ports, str):
        raise misuse(f"`{ports}` is one name", f"write a list: [{ports!r}]")
    else:
        named = items(ports, "ports")
        made = [_made_port(port) for port in named]
    known = [port[0] for port in made]
    if len(set(known)) < len(known):
        twice = Counter(known).most_common(1)[0][0]
        raise misuse(f"there are two ports `{twice}`", "give one of them another name")
    if count is not None and len(made) != count:
        raise misuse(f"{len(made)} names do not fit {count} ports", "give one name per column of B or row of C")
    return made
