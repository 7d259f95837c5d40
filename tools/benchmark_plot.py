"""Plots of ratios as SVG, for light and dark pages: a line a comparison, a dot a case."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

# As narrow as a telephone's screen, where text stays as large as it is here. A label is above its line of dots.
WIDTH, LEFT, NUMBERS, LABEL, DOTS = 440, 24, 64, 18, 20
# Characters of a label that fit in a row; in a longer one the peer takes a row of its own.
MOST = 62
# The colours differ in lightness too, for those who cannot distinguish blue from orange.
STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #24292f }
.back { fill: #ffffff } .grid { stroke: #d8dee4 } .one { stroke: #57606a; stroke-width: 1.5 }
.peer { fill: #6e7781 } .device { font-weight: 600 } .faster { fill: #1b6ca8 } .slower { fill: #d9730d } .median { stroke: #24292f; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .back { fill: #0d1117 } .grid { stroke: #30363d } .one { stroke: #8b949e }
  .peer { fill: #8b949e } .faster { fill: #58a6ff } .slower { fill: #f0a35e } .median { stroke: #e6edf3 }
}"""


@dataclass(frozen=True)
class Strip:
    device: str
    what: str
    peer: str
    ratios: list[float]
    median: float


def _ticks(low: float, high: float) -> list[float]:
    """Numbers with the leading digits 1, 2 and 5 around 1, only powers of ten where the range is long."""
    digits = (1.0, 2.0, 5.0) if high / low < 200 else (1.0,)
    all_ticks = [digit * 10.0**power for power in range(-4, 6) for digit in digits]
    first = max(tick for tick in all_ticks if tick <= low)
    last = min(tick for tick in all_ticks if tick >= high)
    return [tick for tick in all_ticks if first <= tick <= last]


def _is_long(strip: Strip) -> bool:
    return len(strip.what) + len(strip.peer) + 2 > MOST


def _height(strip: Strip) -> int:
    return LABEL * (2 if _is_long(strip) else 1) + DOTS


def plot(title: str, strips: list[Strip]) -> str:
    ratios = [ratio for strip in strips for ratio in strip.ratios]
    ticks = _ticks(min(*ratios, 0.8), max(*ratios, 2.0))
    low, high = math.log(ticks[0]), math.log(ticks[-1])

    def across(ratio: float) -> float:
        return LEFT + (WIDTH - LEFT - NUMBERS) * (math.log(ratio) - low) / (high - low)

    devices = list(dict.fromkeys(strip.device for strip in strips))
    bottom = 26 + LABEL * len(devices) + sum(_height(strip) for strip in strips)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 30}" width="{WIDTH}" role="img">',
        f"<title>{escape(title)}: purlin's rate over the peer's</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{bottom + 30}"/>',
        f'<text x="{WIDTH - NUMBERS + 14}" y="16" class="peer">median</text>',
        f'<text x="{across(1):.1f}" y="16" text-anchor="middle" class="peer">equal</text>',
    ]
    # Grid lines only beside the dots: they would cross the labels.
    rows, down = [], 22
    for device in devices:
        down += LABEL
        for strip in (strip for strip in strips if strip.device == device):
            down += _height(strip)
            rows.append(down - DOTS)
    for tick in ticks:
        kind = "one" if tick == 1 else "grid"
        lines = "".join(f"M{across(tick):.1f} {top}v{DOTS}" for top in rows)
        parts.append(f'<path class="{kind}" d="{lines}"/>')
        parts.append(f'<text x="{across(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    down = 22
    for device in devices:
        parts.append(f'<text x="8" y="{down + 14}" class="device">{escape(device)}</text>')
        down += LABEL
        for strip in (strip for strip in strips if strip.device == device):
            peer = f'<tspan class="peer">{escape(strip.peer)}</tspan>'
            between = f'</text><text x="16" y="{down + 14 + LABEL}">' if _is_long(strip) else "&#160; "
            parts.append(f'<text x="16" y="{down + 14}">{escape(strip.what)}{between}{peer}</text>')
            middle = down + _height(strip) - DOTS / 2
            for ratio in strip.ratios:
                kind = "slower" if ratio < 1 else "faster"
                parts.append(
                    f'<circle class="{kind}" cx="{across(ratio):.1f}" cy="{middle:.1f}" r="4" fill-opacity=".65"/>'
                )
            parts.append(f'<path class="median" d="M{across(strip.median):.1f} {middle - 7:.1f}v14"/>')
            number = f"{strip.median:.2f}" if strip.median < 10 else f"{strip.median:.0f}"
            parts.append(f'<text x="{WIDTH - NUMBERS + 14}" y="{middle + 4:.1f}">{number}</text>')
            down += _height(strip)
    return "\n".join([*parts, "</svg>"]) + "\n"
