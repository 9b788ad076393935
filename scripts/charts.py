"""The charts of scripts/figures as SVG, drawn line by line, so that every machine draws the same bytes. Knows no files."""
import html
import math
import re
import statistics

THEMES = {"light": {"back": "#ffffff", "text": "#1f2328", "faint": "#656d76", "grid": "#d8dee4",
                    "bf16": "#0969da", "f16": "#8250df", "tf32": "#1a7f37", "f32": "#cf222e", "e4m3": "#bc4c00"},
          "dark": {"back": "#0d1117", "text": "#e6edf3", "faint": "#8d96a0", "grid": "#30363d",
                   "bf16": "#58a6ff", "f16": "#bc8cff", "tf32": "#3fb950", "f32": "#ff7b72", "e4m3": "#f0883e"}}


class Drawing:
    def __init__(self, width, height, theme, title):
        self.theme = theme
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
                      f'font-family="system-ui, sans-serif" font-size="12">', f"<title>{html.escape(title)}</title>",
                      f'<rect width="{width}" height="{height}" fill="{theme["back"]}"/>']

    def text(self, x, y, words, anchor="start", color="text", more=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{self.theme.get(color, color)}"{more}>'
                          f"{html.escape(words)}</text>")

    def line(self, points, color, width=1.0, more=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{self.theme.get(color, color)}" stroke-width="{width}"{more}/>')

    def dot(self, x, y, color, hollow=False, radius=3.0):
        color = self.theme.get(color, color)
        paint = f'fill="none" stroke="{color}"' if hollow else f'fill="{color}" fill-opacity="0.75"'
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {paint}/>')

    def axes(self, box, title, x_range, y_range, x_ticks, y_ticks, x_title="", log=""):
        """A frame with grid and ticks; returns what turns data into places. Ticks are pairs of a value and its words."""
        left, top, width, height = box

        def scale(value, ends, is_log):
            low, high, value = (map(math.log, (*ends, value)) if is_log else (*ends, value))
            return (value - low) / (high - low)

        def place(x, y):
            return left + width * scale(x, x_range, "x" in log), top + height * (1 - scale(y, y_range, "y" in log))

        self.text(left, top - 10, title, more=' font-weight="600"')
        for value, words in x_ticks:
            x = place(value, y_range[0])[0]
            self.line([(x, top), (x, top + height)], "grid")
            self.text(x, top + height + 16, words, "middle", "faint")
        for value, words in y_ticks:
            y = place(x_range[0], value)[1]
            self.line([(left, y), (left + width, y)], "grid")
            self.text(left - 6, y + 4, words, "end", "faint")
        self.text(left + width / 2, top + height + 34, x_title, "middle", "faint")
        return place

    def svg(self):
        return "\n".join([*self.parts, "</svg>", ""])


def ratios_chart(shade, suites):
    """Ratio to cuBLASLt's best over size, and its distribution: of each dtype, triples of operations, ratio, and whether aligned."""
    drawing = Drawing(960, 400, THEMES[shade], "Speed against cuBLASLt's best algorithm on the validation suites")
    ticks = [(value, f"{value:g}") for value in (0.8, 0.9, 1, 1.2, 1.5, 2, 3, 4)]
    place = drawing.axes((50, 40, 470, 290), "Speed over cuBLASLt's best, by size of the product", (1e5, 1e13), (0.78, 4.2),
                         [(1e5, "10⁵"), (1e7, "10⁷"), (1e9, "10⁹"), (1e11, "10¹¹"), (1e13, "10¹³")], ticks,
                         "operations (2 M N K)", "xy")
    drawing.line([place(1e5, 1), place(1e13, 1)], "text", 1.5)
    for dtype, rows in suites:
        for operations, ratio, aligned in rows:
            drawing.dot(*place(operations, ratio), dtype, not aligned)
    drawing.dot(58, 384, "text")
    drawing.text(66, 388, "aligned", color="faint")
    drawing.dot(128, 384, "text", True)
    drawing.text(136, 388, "rows that start at no multiple of 16 bytes, or operands that cuBLASLt gets copies of", color="faint")
    place = drawing.axes((600, 40, 330, 290), "Distribution; bars: median and middle half", (0.78, 4.2), (0, len(suites)), ticks,
                         [], "ratio to cuBLASLt's best", "x")
    drawing.line([place(1, 0), place(1, len(suites))], "text", 1.5)
    for i, (dtype, rows) in enumerate(suites):
        ratios, y = sorted(ratio for _, ratio, _ in rows), len(suites) - i - 0.5
        for j, ratio in enumerate(ratios):
            drawing.dot(*place(ratio, y + (j % 5 - 2) * 0.09), dtype, radius=2.5)
        drawing.text(594, place(1, y)[1] + 4, dtype, "end", dtype)
        low, median, high = statistics.quantiles(ratios, n=4)
        drawing.line([place(low, y - 0.32), place(high, y - 0.32)], dtype, 4)
        drawing.line([place(median, y - 0.42), place(median, y + 0.32)], "text", 2.5)
    return drawing.svg()


def power_cap_chart(shade, problem, samples, by_length, finals):
    """A search at the cap sample by sample, what a sample's length does to a ratio, and finals both ways; rows of three files."""
    drawing = Drawing(960, 700, THEMES[shade], "Measuring at the power cap")
    colors = {"screen": "e4m3", "race": "tf32", "final": "bf16", "confirm": "bf16", "steady": "faint"}
    end = math.ceil(float(samples[-1]["gpu_s"]) / 5) * 5
    seconds = [(s, str(s)) for s in range(0, end + 1, 5)]
    place = drawing.axes((60, 40, 870, 180), f"SM clock of each sample, MHz: {problem}", (0, end), (1150, 1800),
                         seconds, [(mhz, str(mhz)) for mhz in (1200, 1400, 1600, 1800)])
    watts = drawing.axes((60, 260, 870, 60), "Power, W, of samples long enough to know it", (0, end), (600, 800), seconds,
                         [(w, str(w)) for w in (600, 700, 800)], "seconds of GPU time")
    for row in samples:
        color, at = colors[row["stage"]], float(row["gpu_s"])
        drawing.dot(*place(at, float(row["mhz"])), color, row["contender"] == "cuBLASLt")
        if row["watts"]:
            drawing.dot(*watts(at, float(row["watts"])), color, row["contender"] == "cuBLASLt")
    for x, color, words in ((480, "e4m3", "screening: short samples"), (660, "tf32", "race: 0.1 s"),
                            (770, "bf16", "final: settled, 0.25 s")):
        drawing.dot(x, 26, color)
        drawing.text(x + 8, 30, words, color="faint")
    drawing.text(930, 62, "hollow: cuBLASLt", "end", "faint")
    blocks, alone_row = by_length[:-1], by_length[-1]
    place = drawing.axes((60, 410, 380, 230), "A ratio by the length of the samples", (2, 1000), (0.96, 1.08),
                         [(ms, str(ms)) for ms in (2, 10, 50, 200, 1000)],
                         [(v / 100, f"{v / 100:.2f}") for v in (96, 98, 100, 102, 104, 106, 108)],
                         "ms; dashed: each alone for seconds", "x")
    for key, color, words in (("two_loads", "bf16", "two loads"), ("two_algorithms", "e4m3", "two algorithms")):
        alone = float(alone_row[key])
        drawing.line([place(float(row["block_ms"]), float(row[key])) for row in blocks], color, 2)
        drawing.line([place(2, alone), place(1000, alone)], color, 1.5, ' stroke-dasharray="5 4"')
        drawing.text(place(2, 1)[0] + 6, place(2, float(blocks[0][key]))[1] + (16 if key == "two_loads" else -8), words, color=color)
    place = drawing.axes((640, 410, 290, 230), "Ratio to cuBLASLt's best", (0.94, 1.10), (0, len(finals)),
                         [(v / 100, f"{v / 100:.2f}") for v in (94, 98, 102, 106, 110)],
                         [(len(finals) - i - 0.5, f"{row['dtype']} {row['problem']}") for i, row in enumerate(finals)],
                         "orange: short samples; blue: seconds of each kernel alone")
    drawing.line([place(1, 0), place(1, len(finals))], "text", 1.5)
    for i, row in enumerate(finals):
        ends = [place(float(row[key]), len(finals) - i - 0.5) for key in ("short", "alone")]
        drawing.line(ends, "faint", 1.5)
        drawing.dot(*ends[0], "e4m3", radius=4.5)
        drawing.dot(*ends[1], "bf16", radius=4.5)
    return drawing.svg()


SGR = {"light": ["#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#6e7781"],
       "dark": ["#6e7681", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"]}


def terminal_chart(shade, session):
    """A captured terminal session as a picture: its text in columns, its colours by SGR codes."""
    lines = [re.sub(r"\x1b\[[\d;?]*[A-Za-ln-z]", "", line.split("\r")[-1]) for line in session.replace("\r\n", "\n").rstrip().split("\n")]
    width = max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in lines)
    drawing = Drawing(round(width * 8.4) + 32, 19 * len(lines) + 32, THEMES[shade], "A search in a terminal")
    color, weight = THEMES[shade]["text"], ""
    for row, line in enumerate(lines):
        column = 0
        for i, part in enumerate(re.split(r"\x1b\[([\d;]*)m", line)):
            if i % 2 == 0:
                if part.strip():
                    drawing.text(16 + 8.4 * column, 30 + 19 * row, part, color=color, more=f' font-family="monospace" font-size="14" '
                                 f'textLength="{8.4 * len(part):.1f}" xml:space="preserve"{weight}')
                column += len(part)
                continue
            for code in map(int, filter(None, (part or "0").split(";"))):
                if code in (0, 39):
                    color, weight = THEMES[shade]["text"], weight if code else ""
                elif code == 1:
                    weight = ' font-weight="700"'
                elif code == 2:
                    color = THEMES[shade]["faint"]
                elif 30 <= code <= 37 or 90 <= code <= 97:
                    color = SGR[shade][code % 10]
    return drawing.svg()
