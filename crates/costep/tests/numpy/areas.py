"""Areas of stability of the dual mass oscillator over ck/dk and the macro step [T 3.3.1], with numpy alone.

Usage: areas.py CK DK STEPS SOLVER METHODS, lists with commas. A point is stable if the spectral radius of one macro step
(`radius.py`) is at most one. A cell holds all points of one ratio ck/dk and one step, and counts if any of them is stable
and it is connected with the smallest step by cells that count. The area is in ms times decades. Prints one per method.
"""

import sys

import numpy as np

from radius import radius


def area(cks, dks, steps, solver, method):
    width = np.log10(cks[1] / cks[0])
    ratios = np.log10(np.array(cks)[:, None] / np.array(dks)[None, :])
    columns = np.rint((ratios - ratios.min()) / width).astype(int)
    counts = np.zeros((len(steps), columns.max() + 1), dtype=bool)
    for row, h in enumerate(steps):
        for i, ck in enumerate(cks):
            for j, dk in enumerate(dks):
                column = columns[i, j]
                if not counts[row, column]:
                    counts[row, column] = radius(ck, dk, solver, h, method) <= 1 + 1e-9
    # Grown from the lowest row until nothing is added.
    connected = np.zeros_like(counts)
    connected[0] = counts[0]
    while True:
        grown = connected.copy()
        grown[1:] |= connected[:-1]
        grown[:-1] |= connected[1:]
        grown[:, 1:] |= connected[:, :-1]
        grown[:, :-1] |= connected[:, 1:]
        grown &= counts
        if (grown == connected).all():
            break
        connected = grown
    widths, heights = connected.sum(axis=1) * width, np.array(steps) * 1e3
    return float((0.5 * (widths[1:] + widths[:-1]) * np.diff(heights)).sum())


def numbers(text):
    return [float(word) for word in text.split(",")]


cks, dks, steps = (numbers(text) for text in sys.argv[1:4])
for method in sys.argv[5].split(","):
    print(repr(area(cks, dks, steps, sys.argv[4], method)))
