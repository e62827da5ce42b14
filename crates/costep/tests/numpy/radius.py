"""Spectral radius of one macro step of the dual mass oscillator, method by method, with numpy alone.

Reads lines `ck dk solver h method` (solver: `exact`, or the length of explicit Euler steps), prints one radius per line.
Each method is written down as a linear update of (states, memory) and applied to all unit vectors; nothing is taken from
the program under test but the equations of the papers: [T] (3.1) to (3.4), [G18], [H18] (2), (3), [V14].
"""

import sys

import numpy as np

M1 = M2 = 10.0
C1, C2, D1, D2 = 1e6, 1e7, 1.0, 2.0
# u = (F; x1, v1), y = (x1, v1; F), u = L y.
L = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
PARTS = [(slice(0, 2), slice(0, 1), slice(0, 2)), (slice(2, 4), slice(1, 3), slice(2, 3))]  # x, u, y


def balanced(a):
    """A similar matrix in units in which rows and columns are of like size, and the units."""
    units = np.ones(len(a))
    for _ in range(60):
        rows, columns = np.abs(a).sum(axis=1), np.abs(a).sum(axis=0)
        sound = (rows > 0) & (columns > 0)
        scale = np.where(sound, np.sqrt(np.where(sound, rows, 1.0) / np.where(sound, columns, 1.0)), 1.0)
        scale = 2.0 ** np.round(np.log2(scale))
        a, units = a / scale[:, None] * scale[None, :], units * scale
    return a, units


def expm(a):
    """Scaling and squaring of the Taylor series: no library is needed for a few rows."""
    a, units = balanced(a)
    return units[:, None] * plain_expm(a) / units[None, :]


def plain_expm(a):
    norm = np.linalg.norm(a, 1)
    squarings = max(0, int(np.ceil(np.log2(norm))) + 4) if norm > 0 else 0
    a = a / 2.0**squarings
    result, term = np.eye(len(a)), np.eye(len(a))
    for k in range(1, 22):
        term = term @ a / k
        result = result + term
    for _ in range(squarings):
        result = result @ result
    return result


class Plant:
    """Both subsystems, block by block: x' = A x + B u, y = C x + D u."""

    def __init__(self, ck, dk, solver, h):
        self.h = h
        self.a = np.zeros((4, 4))
        self.a[0, 1] = self.a[2, 3] = 1.0
        self.a[1, :2] = [-C1 / M1, -D1 / M1]
        self.a[3, 2:] = [-(C2 + ck) / M2, -(D2 + dk) / M2]
        self.b = np.zeros((4, 3))
        self.b[1, 0] = 1.0 / M1
        self.b[3, 1:] = [ck / M2, dk / M2]
        self.c = np.zeros((3, 4))
        self.c[0, 0] = self.c[1, 1] = 1.0
        self.c[2, 2:] = [ck, dk]
        self.d = np.zeros((3, 3))
        self.d[2, 1:] = [-ck, -dk]
        self.n = None if solver == "exact" else int(np.ceil(h / float(solver) * (1 - 1e-9)))
        # Sizes of the signals, for scaled least squares: position, velocity, force.
        x = 0.1
        v = x * np.sqrt((C1 + ck) / M1)
        force = ck * x + dk * v
        self.size_y, self.size_u = np.array([x, v, force]), np.array([force, x, v])

    def y(self, x, u):
        return self.c @ x + self.d @ u

    def step(self, x, coefficients):
        """States at the end, the inputs there, and the mean of the outputs over the inner steps, under sum_a c_a s^a."""
        h = self.h
        u = lambda s: sum(c * s**a for a, c in enumerate(coefficients))
        if self.n is None:
            # x and its integral: chain of derivatives of u beside the states.
            m = len(coefficients)
            k = np.zeros((8 + 3 * m, 8 + 3 * m))
            k[:4, :4], k[:4, 8:11], k[4:8, :4] = self.a, self.b, np.eye(4)
            for a in range(m - 1):
                k[8 + 3 * a : 11 + 3 * a, 11 + 3 * a : 14 + 3 * a] = np.eye(3)
            start = np.concatenate([x, np.zeros_like(x)] + [c * factorial(a) for a, c in enumerate(coefficients)])
            end = expm(k * h) @ start
            mean_u = sum(c * h**a / (a + 1) for a, c in enumerate(coefficients))
            return end[:4], u(h), self.y(end[4:8] / h, mean_u)
        dt = h / self.n
        total = 0.0
        for j in range(self.n):
            x = x + dt * (self.a @ x + self.b @ u(j * dt))
            total = total + self.y(x, u((j + 1) * dt))
        return x, u(h), total / self.n

    def closed(self):
        """The whole system: x' = (A + B L (I - D L)^-1 C) x."""
        return self.a + self.b @ L @ np.linalg.inv(np.eye(3) - self.d @ L) @ self.c


def factorial(a):
    return 1.0 if a < 2 else a * factorial(a - 1)


def response(plant, shape):
    """Gain from an input of a shape (coefficients of s^a) to the states at the end, exact."""
    m, h = len(shape), plant.h
    gain = np.zeros((4, 3))
    k = np.zeros((4 + 3 * m, 4 + 3 * m))
    k[:4, :4], k[:4, 4:7] = plant.a, plant.b
    for a in range(m - 1):
        k[4 + 3 * a : 7 + 3 * a, 7 + 3 * a : 10 + 3 * a] = np.eye(3)
    e = expm(k * h)
    for a, c in enumerate(shape):
        gain += e[:4, 4 + 3 * a : 7 + 3 * a] * (c * factorial(a))
    return gain


def holds(plant, order):
    """Order 0, 1, 2: polynomial through the last values of z. Memory: u_end and earlier z."""

    def step(s):
        x, u_end, z1, z2 = s[:4], s[4:7], s[7:10], s[10:13]
        z, h = L @ plant.y(x, u_end), plant.h
        c = [z]
        if order >= 1:
            c.append((z - z1) / h)
        if order == 2:
            curvature = (z - 2 * z1 + z2) / (2 * h * h)
            c = [z, (z - z1) / h + h * curvature, curvature]
        x, u_end, _ = plant.step(x, c)
        return np.concatenate([x, u_end, z, z1])

    return step, 13


def nepce(plant, applied):
    def step(s):
        x, u_end, correction = s[:4], s[4:7], s[7:10]
        z = L @ plant.y(x, u_end)
        u = z + correction
        x, u_end, mean = plant.step(x, [u])
        return np.concatenate([x, u_end, L @ mean - (u if applied else z)])

    return step, 10


def feedthrough(plant):
    def step(s):
        x, u_end = s[:4], s[4:7]
        y = np.linalg.solve(np.eye(3) - plant.d @ L, plant.y(x, u_end) - plant.d @ u_end)
        x, u_end, _ = plant.step(x, [L @ y])
        return np.concatenate([x, u_end])

    return step, 7


def mbcorr(plant, order, euler=False, alpha=1.0):
    h = plant.h
    shape = [1.0] if order == 0 else [0.0, 1.0 / h]
    b_d = plant.b * h if euler else response(plant, shape)
    cb = plant.c @ b_d

    def step(s):
        x, u_end, before, bar_end, bar_mean = s[:4], s[4:7], s[7:10], s[10:13], s[13:16]
        now = plant.y(x, u_end) - cb @ bar_end - plant.d @ u_end
        now = np.linalg.solve(np.eye(3) - (cb + plant.d) @ L, now)
        u = L @ now + alpha * (L @ (before + now) / 2 - bar_mean)
        slope = L @ (now - before) / h if order == 1 else np.zeros_like(now)
        x, u_end, _ = plant.step(x, [u, slope])
        return np.concatenate([x, u_end, now, L @ now + h * slope, L @ now + 0.5 * h * slope])

    return step, 16


def prestep(plant, ramp, ede, offsets, scaled):
    h, eye = plant.h, np.eye(3)
    s_y, cb = np.zeros((3, 3)), plant.c @ plant.b
    for xs, us, ys in PARTS:
        c = plant.c[ys, xs]
        s_y[ys, ys] = c @ plant.a[xs, xs] @ np.linalg.pinv(c)
    s_u = cb - s_y @ plant.d
    through = np.linalg.inv(eye - plant.d @ L)
    ahat = through @ (s_y + s_u @ L)
    phi_a = expm(s_y * h)
    chain = expm(np.block([[s_y, eye, np.zeros((3, 3))], [np.zeros((3, 6)), eye], [np.zeros((3, 9))]]) * h)
    held, risen = chain[:3, 3:6], chain[:3, 6:9]
    whole = expm(np.block([[ahat, eye, np.zeros((3, 3))], [np.zeros((3, 6)), eye], [np.zeros((3, 9))]]) * h)
    p_held = held @ cb + plant.d
    p = risen @ cb + h * plant.d if ramp else p_held
    inverse = np.zeros((3, 3))
    for _, us, ys in PARTS:
        units = np.outer(1 / plant.size_y[ys], plant.size_u[us]) if scaled else 1.0
        back = np.outer(plant.size_u[us], 1 / plant.size_y[ys]) if scaled else 1.0
        inverse[us, ys] = np.linalg.pinv(p[ys, us] * units) * back

    def step(s):
        x, u_end, delta, eps = s[:4], s[4:7], s[7:10], s[10:13]
        y = plant.y(x, u_end)
        coupled = L @ y
        z = y - plant.d @ u_end
        w = plant.c @ (plant.a @ x + plant.b @ u_end) - s_y @ z - cb @ u_end if offsets else np.zeros_like(y)
        if not ede:
            delta = np.zeros_like(y)
        else:
            slope = (coupled - u_end - eps) / h
            force, rise = through @ (s_u @ eps + plant.d @ slope), through @ s_u @ slope
            delta = whole[:3, :3] @ delta + whole[:3, 3:6] @ force + whole[:3, 6:9] @ rise
        ahead = whole[:3, :3] @ (y + delta) + whole[:3, 3:6] @ through @ w
        if ramp:
            reference = (L @ ahead - coupled) / h
            rest = ahead - phi_a @ z - held @ w - p_held @ coupled - p @ reference
            u = [coupled, reference + inverse @ rest]
        else:
            reference = L @ ahead
            rest = ahead - phi_a @ z - held @ w - p @ reference
            u = [reference + inverse @ rest]
        x, u_end, _ = plant.step(x, u)
        return np.concatenate([x, u_end, delta, coupled - u[0]])

    return step, 13


def offsets_help(plant):
    """Offsets are left out where the parts, taken exactly, grow with them by a tenth in 250 steps, and without them less."""
    if plant.n is None:
        exact = plant
    else:
        exact = Plant.__new__(Plant)
        exact.__dict__.update(plant.__dict__, n=None)
    grown = [largest(*prestep(exact, False, False, offsets, True)) ** 250 for offsets in (True, False)]
    return grown[0] <= 1.1 or grown[1] > 2 or 1.1 * grown[1] > grown[0]


def legendre(order):
    """Coefficients of the orthonormal polynomials on [0, 1], by Gram and Schmidt."""
    product = lambda a, b: sum(p * q / (i + j + 1) for i, p in enumerate(a) for j, q in enumerate(b))
    basis = []
    for k in range(order + 1):
        q = np.eye(order + 1)[k]
        for b in basis:
            q = q - product(b, q) * b
        basis.append(q / np.sqrt(product(q, q)))
    return basis


def predictive(plant, order):
    """Inputs that are the projection of the outputs they cause."""
    h, width = plant.h, order + 1
    basis = legendre(order)
    if plant.n is None:
        # Gauss on pieces: the outputs are smooth.
        nodes, weights = np.polynomial.legendre.leggauss(24)
        pieces = max(1, int(np.ceil(h * 200)))
        theta = np.concatenate([(k + 0.5 + 0.5 * nodes) / pieces for k in range(pieces)])
        weight = np.concatenate([weights / 2 / pieces for _ in range(pieces)])
    else:
        theta = np.arange(plant.n) / plant.n
        weight = np.full(plant.n, 1.0 / plant.n)
    q = np.array([[np.polyval(b[::-1], t) for t in theta] for b in basis])
    project = np.linalg.solve((q * weight) @ q.T, q * weight)
    # Columns: 4 states, then the coefficients of the inputs, basis function by basis function.
    columns = 4 + 3 * width
    x, c = np.eye(4, columns), np.zeros((width, 3, columns))
    for column in range(4, columns):
        c[(column - 4) // 3, (column - 4) % 3, column] = 1.0
    powers = [h**-a * sum(basis[b][a] * c[b] for b in range(width)) for a in range(width)]
    rows = [plant.y(x_at, sum(p * (t * h) ** a for a, p in enumerate(powers)))
            for t, x_at in zip(theta, states_at(plant, x, powers, theta))]
    eta = np.einsum("wn,nyc->wyc", project, np.array(rows))
    flat = eta.reshape(3 * width, columns)
    big_l = np.kron(np.eye(width), L)
    outputs = np.linalg.solve(np.eye(3 * width) - flat[:, 4:] @ big_l, flat[:, :4])
    inputs = big_l @ outputs

    def step(s):
        c = (inputs @ s).reshape(width, 3, -1)
        powers = [h**-a * sum(basis[b][a] * c[b] for b in range(width)) for a in range(width)]
        return plant.step(s, powers)[0]

    return step, 4


def states_at(plant, x, powers, theta):
    if plant.n is not None:
        dt = plant.h / plant.n
        for j in range(plant.n):
            yield x
            x = x + dt * (plant.a @ x + plant.b @ sum(p * (j * dt) ** a for a, p in enumerate(powers)))
        return
    m = len(powers)
    k = np.zeros((4 + 3 * m, 4 + 3 * m))
    k[:4, :4], k[:4, 4:7] = plant.a, plant.b
    for a in range(m - 1):
        k[4 + 3 * a : 7 + 3 * a, 7 + 3 * a : 10 + 3 * a] = np.eye(3)
    start = np.concatenate([x] + [p * factorial(a) for a, p in enumerate(powers)])
    for t in theta:
        yield (expm(k * (t * plant.h)) @ start)[:4]


def iterated(plant):
    """Lines from the values at the start to those that they cause at the end, at convergence."""

    def after(x, start, end):
        x, u_end, _ = plant.step(x, [start, (end - start) / plant.h])
        return L @ plant.y(x, u_end), x

    gain = np.array([after(np.zeros(4), np.zeros(3), e)[0] for e in np.eye(3)]).T

    def step(s):
        x, u_end = s[:4], s[4:7]
        start = L @ plant.y(x, u_end)
        free, _ = after(x, start, np.zeros_like(start))
        end = np.linalg.solve(np.eye(3) - gain, free)
        return np.concatenate([after(x, start, end)[1], end])

    return step, 7


def identified(plant, ramp):
    """The law of the learnt models where these have learnt everything: they respond as the parts do."""
    late = np.diag([0.0, 0.0, 0.5])

    def after(x, u_end, u):
        x, _, _ = plant.step(x, [u_end, (u - u_end) / plant.h] if ramp else [u])
        return x

    def outputs(x, u_end, u):
        return plant.y(after(x, u_end, u), u)

    gain = np.array([outputs(np.zeros(4), np.zeros(3), e) for e in np.eye(3)]).T

    def step(s):
        x, u_end = s[:4], s[4:7]
        free = outputs(x, u_end, np.zeros_like(u_end))
        if ramp:
            u = np.linalg.solve(np.eye(3) - L @ gain, L @ free)
        else:
            # The mean of the outputs; an output with direct feedthrough was read under the last input.
            mean = 0.5 * (plant.y(x, u_end) + free) - late @ gain @ u_end
            u = np.linalg.solve(np.eye(3) - L @ (0.5 * np.eye(3) + late) @ gain, L @ mean)
        return np.concatenate([after(x, u_end, u), u])

    return step, 7


def exact_whole(plant):
    """All as one, solved with error control: as good as exact."""
    flow = expm(plant.closed() * plant.h)
    return (lambda s: flow @ s), 4


def whole(plant):
    """All as one; explicit Euler steps of the whole where the parts take them."""
    a, h = plant.closed(), plant.h
    flow = expm(a * h) if plant.n is None else np.linalg.matrix_power(np.eye(4) + a * h / plant.n, plant.n)
    return (lambda s: flow @ s), 4


METHODS = {
    "zoh": lambda p: holds(p, 0),
    "foh": lambda p: holds(p, 1),
    "soh": lambda p: holds(p, 2),
    "nepce": lambda p: nepce(p, False),
    "nepce:reference=applied": lambda p: nepce(p, True),
    "feedthrough": feedthrough,
    "mbcorr": lambda p: mbcorr(p, 0),
    "mbcorr:order=1": lambda p: mbcorr(p, 1),
    "mbcorr:discretisation=euler": lambda p: mbcorr(p, 0, euler=True),
    "mbcorr:alpha=0.5": lambda p: mbcorr(p, 0, alpha=0.5),
    "prestep": lambda p: prestep(p, False, False, offsets_help(p), True),
    "prestep:paper=true": lambda p: prestep(p, False, False, False, False),
    "prestep:input=ramp": lambda p: prestep(p, True, False, True, True),
    "prestep:ede=true": lambda p: prestep(p, False, True, True, True),
    "predictive": lambda p: predictive(p, 2),
    "predictive:order=0": lambda p: predictive(p, 0),
    "predictive:order=1": lambda p: predictive(p, 1),
    "predictive:order=3": lambda p: predictive(p, 3),
    "auto": lambda p: predictive(p, 2),
    "lis": whole,
    "monolithic": exact_whole,
    "fixed-point": iterated,
    "iqn-ils": iterated,
    "ijcsa": iterated,
    "identified": lambda p: identified(p, False),
    "identified:form=ramp": lambda p: identified(p, True),
}


def radius(ck, dk, solver, h, method):
    return largest(*METHODS[method](Plant(ck, dk, solver, h)))


def largest(step, size):
    """Absolute value of the largest eigenvalue of a linear update."""
    matrix = step(np.eye(size))
    # Units of the entries: forces beside positions would cost digits.
    matrix, _ = balanced(matrix)
    return np.abs(np.linalg.eigvals(matrix)).max()


if __name__ == "__main__":
    for line in sys.stdin:
        ck, dk, solver, h, method = line.split()
        print(repr(float(radius(float(ck), float(dk), solver, float(h), method))))
