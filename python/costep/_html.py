"""Small pieces of HTML and SVG, for notebooks."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

COLOUR = "#1f6fb4"
GOOD, BAD, DOUBTFUL = "#2b7a3d", "#b3261e", "#9a6b00"


def escape(text: object) -> str:
    """Text that nothing is done with."""
    return html.escape(str(text))


def preformatted(text: str) -> str:
    """Text as it is."""
    return f"<pre>{escape(text)}</pre>"


def coloured(verdict: str) -> str:
    """A verdict in its colour."""
    colour = {"stable": GOOD, "not judged": DOUBTFUL, "suspect": DOUBTFUL}.get(verdict, BAD)
    return f'<b style="color:{colour}">{escape(verdict)}</b>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], verdict: int | None = None) -> str:
    """A table; the column of a verdict has its colour."""

    def cell(column: int, text: str) -> str:
        return f"<td>{coloured(text) if column == verdict else escape(text)}</td>"

    top = "".join(f"<th>{escape(title)}</th>" for title in head)
    body = "".join("<tr>" + "".join(cell(k, text) for k, text in enumerate(row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def chart(title: str, time: Any, values: Any, unit: str | None = None) -> str:
    """A line over time as SVG."""
    width, height, left, bottom, top = 640.0, 180.0, 70.0, 22.0, 20.0
    import numpy as np

    finite = np.asarray(values)[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    begin, end = (float(time[0]), float(time[-1])) if len(time) else (0.0, 1.0)
    span = end - begin if end > begin else 1.0
    stride = max(1, math.ceil(len(time) / 2000))
    points = " ".join(
        f"{left + (float(t) - begin) / span * (width - left - 8):.1f},"
        f"{top + (high - float(v)) / (high - low) * (height - top - bottom):.1f}"
        for t, v in zip(np.asarray(time)[::stride], np.asarray(values)[::stride])
        if math.isfinite(v)
    )
    line = (
        f'<polyline fill="none" stroke="{COLOUR}" stroke-width="1.4" points="{points}">'
        f"<title>{escape(title)}</title></polyline>"
    )
    style = 'font-family="sans-serif" font-size="11" fill="#333"'
    name = f"{title} [{unit}]" if unit else title
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">'
        f'<rect x="{left:g}" y="{top:g}" width="{width - left - 8:g}" height="{height - top - bottom:g}" fill="none" stroke="#bbb"/>'
        f'<text x="{left:g}" y="13" {style}>{escape(name)}</text>'
        f'<text x="{left - 4:g}" y="{top + 8:g}" text-anchor="end" {style}>{high:.4g}</text>'
        f'<text x="{left - 4:g}" y="{height - bottom:g}" text-anchor="end" {style}>{low:.4g}</text>'
        f'<text x="{left:g}" y="{height - 6:g}" {style}>{begin:.4g} s</text>'
        f'<text x="{width - 8:g}" y="{height - 6:g}" text-anchor="end" {style}>{end:.4g} s</text>'
        + line
        + "</svg>"
    )
