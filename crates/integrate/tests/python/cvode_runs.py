"""Runs of CVODE for the tests of the multistep solver.

Standard input: a list of {"problem", "family", "relative", "absolute"}. Standard output: a list of {"t", "x", "evaluations",
"jacobians"}: the times of all internal steps, and the state at the last. The problems are those of `cvode.rs`.
"""

import json
import math
import sys

import numpy as np
from sksundae.cvode import CVODE


def oscillator(t, x, f):
    f[:] = [x[1], -x[0]]


def oscillator_jacobian(t, x, f, j):
    j[:] = [[0, 1], [-1, 0]]


def pendulum(t, x, f):
    f[:] = [x[1], -9.81 * math.sin(x[0]) + math.cos(5 * t)]


def pendulum_jacobian(t, x, f, j):
    j[:] = [[0, 1], [-9.81 * math.cos(x[0]), 0]]


def brusselator(t, x, f):
    f[:] = [1 + x[0] ** 2 * x[1] - 4 * x[0], 3 * x[0] - x[0] ** 2 * x[1]]


def brusselator_jacobian(t, x, f, j):
    j[:] = [[2 * x[0] * x[1] - 4, x[0] ** 2], [3 - 2 * x[0] * x[1], -x[0] ** 2]]


def spring(t, x, f):
    f[:] = [x[1], -75 * x[0] - 2.1 * x[1] + 25]


def spring_jacobian(t, x, f, j):
    j[:] = [[0, 1], [-75, -2.1]]


def robertson(t, x, f):
    f[0] = -0.04 * x[0] + 1e4 * x[1] * x[2]
    f[2] = 3e7 * x[1] * x[1]
    f[1] = -f[0] - f[2]


def robertson_jacobian(t, x, f, j):
    a, b, c = 1e4 * x[2], 1e4 * x[1], 6e7 * x[1]
    j[:] = [[-0.04, a, b], [0.04, -a - c, -b], [0, c, 0]]


def van_der_pol(t, x, f):
    f[:] = [x[1], 1e3 * (1 - x[0] ** 2) * x[1] - x[0]]


def van_der_pol_jacobian(t, x, f, j):
    j[:] = [[0, 1], [-2e3 * x[0] * x[1] - 1, 1e3 * (1 - x[0] ** 2)]]


def run(job):
    name = job["problem"]
    f, jacobian = globals()[name], globals()[name + "_jacobian"]
    solver = CVODE(
        f,
        rtol=job["relative"],
        atol=np.array(job["absolute"]),
        method=job["family"],
        jacfn=jacobian,
        max_num_steps=1_000_000,
    )
    result = solver.solve(np.array([0.0, job["end"]]), np.array(job["start"]))
    if not result.success:
        raise RuntimeError(f"{job}: {result.message}")
    return {
        "t": list(map(float, result.t)),
        "x": list(map(float, result.y[-1])),
        "evaluations": int(result.nfev),
        "jacobians": int(result.njev),
    }


json.dump([run(job) for job in json.load(sys.stdin)], sys.stdout)
