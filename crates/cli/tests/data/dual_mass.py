"""Dual mass oscillator coupled by model-based methods, written out by hand: the errors of `compare` by a second route.

Matrices are lists of rows; exponentials are Taylor series after halving; nothing but the standard library.
x = (x1, v1, x2, v2), y = (x1, v1, F), u = (F; x1, v1) = L y. Prints one JSON object: method -> eps_mono.
Arguments: ck, dk, macro step, stop time.
"""

import json
import math
import sys

MICRO_STEP = 1e-5


def times(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def plus(a, b, factor=1.0):
    return [[x + factor * y for x, y in zip(r, s)] for r, s in zip(a, b)]


def scaled(a, factor):
    return [[factor * x for x in row] for row in a]


def identity(n):
    return [[float(i == j) for j in range(n)] for i in range(n)]


def inverse(a):
    n = len(a)
    rows = [list(row) + unit for row, unit in zip(a, identity(n))]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i])]
    return [row[n:] for row in rows]


def exponential(a):
    norm = max(sum(abs(x) for x in row) for row in a)
    halvings = max(0, math.ceil(math.log2(norm)) + 4) if norm > 0 else 0
    small = scaled(a, 0.5**halvings)
    result = term = identity(len(a))
    for k in range(1, 20):
        term = scaled(times(term, small), 1.0 / k)
        result = plus(result, term)
    for _ in range(halvings):
        result = times(result, result)
    return result


def integrals(a, h):
    """e^(A h), int e^(A t) dt, int e^(A (h - t)) t dt, from one augmented exponential."""
    n = len(a)
    block = [[0.0] * (3 * n) for _ in range(3 * n)]
    for i in range(n):
        block[i][:n] = [h * x for x in a[i]]
        block[i][n + i] = block[n + i][2 * n + i] = 1.0
    whole = exponential(block)
    part = lambda j, factor: [[factor * x for x in row[j * n : (j + 1) * n]] for row in whole[:n]]
    return part(0, 1.0), part(1, h), part(2, h * h)


def apply(a, v):
    return [sum(x * y for x, y in zip(row, v)) for row in a]


def add(*vectors):
    return [sum(values) for values in zip(*vectors)]


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


class Oscillator:
    """Both masses as one block-diagonal system, with Interface Jacobians Sy, Su."""

    L = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    PARTS = [((0, 1), (0,)), ((2,), (1, 2))]

    def __init__(self, ck, dk):
        self.A = [[0, 1, 0, 0], [-1e5, -0.1, 0, 0], [0, 0, 0, 1], [0, 0, -1e6 - ck / 10, -0.2 - dk / 10]]
        self.B = [[0, 0, 0], [0.1, 0, 0], [0, 0, 0], [0, ck / 10, dk / 10]]
        self.C = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, ck, dk]]
        self.D = [[0, 0, 0], [0, 0, 0], [0, -ck, -dk]]
        size = ck * ck + dk * dk
        pseudo_inverse = [[1, 0, 0], [0, 1, 0], [0, 0, ck / size], [0, 0, dk / size]]
        self.Sy = times(self.C, times(self.A, pseudo_inverse))
        self.CB = times(self.C, self.B)
        self.Su = plus(self.CB, times(self.Sy, self.D), -1.0)
        self.loop = inverse(plus(identity(3), times(self.D, self.L), -1.0))
        self.closed = times(self.loop, plus(self.Sy, times(self.Su, self.L)))
        self.x0 = [0.1, 0.0, 0.0, 0.0]
        self.y0 = apply(self.loop, apply(self.C, self.x0))

    def step(self, x, u, slope, steps):
        for j in range(steps):
            now = [a + b * j * MICRO_STEP for a, b in zip(u, slope)]
            x = add(x, [MICRO_STEP * f for f in add(apply(self.A, x), apply(self.B, now))])
        return x

    def monolithic(self, steps, rows):
        outputs = times(self.loop, self.C)
        matrix = plus(self.A, times(self.B, times(self.L, outputs)))
        x, result = self.x0, [self.y0]
        for _ in range(rows):
            for _ in range(steps):
                x = add(x, [MICRO_STEP * f for f in apply(matrix, x)])
            result.append(apply(outputs, x))
        return result


def feedthrough(s, h):
    """Parallel linear correction: u = L (I - D L)^-1 (y - D u_end)."""
    return lambda y, u_end: (apply(s.L, apply(s.loop, minus(y, apply(s.D, u_end)))), [0.0] * 3)


def mbcorr(s, h):
    """[H18] (2), (3)."""
    effect = times(s.C, times(integrals(s.A, h)[1], s.B))
    corrector = inverse(plus(identity(3), times(plus(effect, s.D), s.L), -1.0))
    memory = {"y": s.y0, "u": apply(s.L, s.y0)}

    def inputs(y, u_end):
        corrected = apply(corrector, minus(minus(y, apply(effect, memory["u"])), apply(s.D, u_end)))
        mean = [(a + b) / 2 for a, b in zip(memory["y"], corrected)]
        payback = minus(apply(s.L, mean), memory["u"])
        memory.update(y=corrected, u=apply(s.L, corrected))
        return add(memory["u"], payback), [0.0] * 3

    return inputs


class PreStep:
    """[T] section 2.2.1: error differential equation, extrapolation, input optimisation."""

    def __init__(self, s, h, ramp, ede):
        self.s, self.h, self.ramp, self.ede = s, h, ramp, ede
        self.extrapolation, self.over, self.over_line = integrals(s.closed, h)
        self.delta, self.error = [0.0] * 3, None
        self.parts = [self.part(outputs, inputs) for outputs, inputs in s.PARTS]

    def part(self, outputs, inputs):
        pick = lambda m, rows, columns: [[m[i][j] for j in columns] for i in rows]
        s = self.s
        phi_a, over, over_line = integrals(pick(s.Sy, outputs, outputs), self.h)
        d = pick(s.D, outputs, inputs)
        su = pick(s.Su, outputs, inputs)
        hold = plus(times(over, pick(s.CB, outputs, inputs)), d)
        line = plus(times(over_line, su), times(over, d))
        return outputs, inputs, phi_a, d, times(over, su), line if self.ramp else hold

    def __call__(self, y, u_end):
        s, h = self.s, self.h
        coupled = apply(s.L, y)
        if self.ede and self.error is not None:
            self.advance(minus(coupled, u_end))
        target = apply(self.extrapolation, add(y, self.delta))
        wanted = apply(s.L, target)
        value, slope = list(coupled), [0.0] * 3
        for outputs, inputs, phi_a, d, phi_b, gain in self.parts:
            now = [coupled[j] for j in inputs]
            old = [u_end[j] for j in inputs]
            free = [y[i] for i in outputs]
            if self.ramp:
                free = apply(phi_a, add(free, apply(d, minus(now, old))))
                free = add(free, apply(phi_b, now))
                reference = [(wanted[j] - coupled[j]) / h for j in inputs]
            else:
                free = apply(phi_a, minus(free, apply(d, old)))
                reference = [wanted[j] for j in inputs]
            best = optimal(gain, minus([target[i] for i in outputs], free), reference)
            for j, v in zip(inputs, best):
                (slope if self.ramp else value)[j] = v
        self.error = minus(coupled, value)
        return value, slope

    def advance(self, end):
        """delta over the last step; the coupling error went along a line."""
        s = self.s
        slope = [(b - a) / self.h for a, b in zip(self.error, end)]
        steady = apply(s.loop, add(apply(s.Su, self.error), apply(s.D, slope)))
        rising = apply(s.loop, apply(s.Su, slope))
        self.delta = add(
            apply(self.extrapolation, self.delta), apply(self.over, steady), apply(self.over_line, rising)
        )


def optimal(gain, residual, reference):
    """Least squares, or the solution nearest to the reference where inputs are more than outputs."""
    across = [list(row) for row in zip(*gain)]
    if len(gain) >= len(across):
        return apply(inverse(times(across, gain)), apply(across, residual))
    missing = minus(residual, apply(gain, reference))
    return add(reference, apply(across, apply(inverse(times(gain, across)), missing)))


METHODS = {
    "feedthrough": feedthrough,
    "mbcorr": mbcorr,
    "prestep:paper=true": lambda s, h: PreStep(s, h, False, False),
    "prestep:paper=true,ede=true": lambda s, h: PreStep(s, h, False, True),
    "prestep:paper=true,input=ramp": lambda s, h: PreStep(s, h, True, False),
    "prestep:paper=true,input=ramp,ede=true": lambda s, h: PreStep(s, h, True, True),
}


def outputs(s, method, h, steps, rows):
    inputs = method(s, h)
    x, y, u_end, result = s.x0, s.y0, apply(s.L, s.y0), [s.y0]
    for _ in range(rows):
        value, slope = inputs(y, u_end)
        x = s.step(x, value, slope, steps)
        u_end = [a + b * h for a, b in zip(value, slope)]
        y = add(apply(s.C, x), apply(s.D, u_end))
        result.append(y)
    return result


def eps_mono(ours, reference):
    """[T] (3.9), (3.10): root mean square over time of the mean over signals of |y - y_mono| / range."""
    ranges = [max(signal) - min(signal) for signal in zip(*reference)]
    pairs = list(zip(ours, reference))[1:]
    means = [sum(abs(a - b) / r for a, b, r in zip(*pair, ranges)) / 3 for pair in pairs]
    return math.sqrt(sum(mean * mean for mean in means) / len(means))


def main():
    ck, dk, h, stop = (float(text) for text in sys.argv[1:])
    s, steps, rows = Oscillator(ck, dk), round(h / MICRO_STEP), round(stop / h)
    reference = s.monolithic(steps, rows)
    errors = {name: eps_mono(outputs(s, method, h, steps, rows), reference) for name, method in METHODS.items()}
    json.dump(errors, sys.stdout)


main()
