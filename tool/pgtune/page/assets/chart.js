// Charts as SVG: drawn anew for the width there is, so that text keeps its size, and coloured by the page's style.

const kShapes = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
  (r) => `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (r) => `M0,${-1.3 * r}L${1.2 * r},${r}H${-1.2 * r}z`,
  (r) => `M0,${-1.4 * r}L${1.4 * r},0L0,${1.4 * r}L${-1.4 * r},0z`,
  (r) => `M0,${1.3 * r}L${1.2 * r},${-r}H${-1.2 * r}z`,
  (r) => `M${-r},${-r / 3}h${r * 2 / 3}v${-r * 2 / 3}h${r * 2 / 3}v${r * 2 / 3}h${r * 2 / 3}v${r * 2 / 3}h${-r * 2 / 3}v${r * 2 / 3}h${-r * 2 / 3}v${-r * 2 / 3}h${-r * 2 / 3}z`,
  (r) => `M${-1.3 * r},0L${-0.6 * r},${-1.1 * r}H${0.6 * r}L${1.3 * r},0L${0.6 * r},${1.1 * r}H${-0.6 * r}z`,
  (r) => `M0,${-1.4 * r}L${0.45 * r},${-0.45 * r}L${1.4 * r},0L${0.45 * r},${0.45 * r}L0,${1.4 * r}L${-0.45 * r},${0.45 * r}L${-1.4 * r},0L${-0.45 * r},${-0.45 * r}z`,
];
const kLetterWidth = 6.7;  // of 12 px digits and letters, on the wide side
const textWidth = (text) => text.length * kLetterWidth;
/** By number, or by name where a colour has a meaning. */
const colourOf = (colour) => (typeof colour === "string" ? `var(--${colour})` : `var(--c${colour % 8})`);

function markNode(series, x, y, radius) {
  const colour = colourOf(series.colour || 0);
  return svgEl("path", {
    d: kShapes[(series.shape || 0) % kShapes.length](radius || 4), transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`,
    class: "mark" + (series.hollow ? " hollow" : ""), fill: series.hollow ? null : colour, stroke: colour,
    "fill-opacity": series.hollow ? null : 0.85,
  });
}

/** `key`: what shapes mean, of whatever colour. */
function legendOf(series, key = []) {
  const named = [...series.filter((s) => s.name && s.points.length > 0), ...key.map((entry) => ({ ...entry, colour: "soft", always: true }))];
  if (named.length < 2 && !named.some((s) => s.always)) return null;
  return el("ul", { class: "legend" }, named.map((s) => el("li", {},
    svgEl("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" },
      s.line ? svgEl("path", { d: "M-7,0H7", stroke: colourOf(s.colour || 0), class: "path" }) : null,
      s.marks === false ? null : markNode(s, 0, 0, 4)), s.name)));
}

/** Texts inside a plot that keep clear of each other: one that finds no room is left to the legend and the tip. */
function placeLabels(labels, box) {
  const placed = [];
  for (const label of labels) {
    const width = textWidth(label.text);
    const left = Math.max(box.left, Math.min(label.end ? label.x - width : label.x, box.right - width));
    for (const shift of label.shifts || [0, 19, -14, 33, -28]) {
      const y = label.y + shift;
      if (y < box.top + 10 || y > box.bottom - 3 || width > box.right - box.left) continue;
      if (placed.some((p) => Math.abs(p.y - y) < 14 && left < p.left + p.width + 6 && p.left < left + width + 6)) continue;
      placed.push({ left, y, width, text: label.text });
      break;
    }
  }
  return placed.map((p) => svgEl("text", { x: p.left.toFixed(1), y: p.y.toFixed(1), class: "inside" }, p.text));
}

/** Ticks whose texts do not touch, and their texts. */
function spacedTicks(scale, format, horizontal, low, high) {
  const out = [];
  let last = -Infinity;
  const sorted = scale.ticks.map((value) => ({ value, at: scale(value), text: format(value) })).sort((a, b) => a.at - b.at);
  for (const tick of sorted) {
    const half = horizontal ? textWidth(tick.text) / 2 : 7;
    if (tick.at - half < Math.max(last + (horizontal ? 8 : 2), low) || tick.at + half > high) continue;
    last = tick.at + half;
    out.push(tick);
  }
  return out;
}

/** The points that the chart's axes have a place for, each with its series. */
function drawablePoints(spec) {
  const placed = (axis, value) => value !== null && !(axis.log && value <= 0);
  return spec.series.flatMap((s) => s.points.filter((p) => placed(spec.x, p.x) && placed(spec.y, p.y)).map((p) => ({ ...p, series: s })));
}

/**
 * The spec of a chart of points: title, text, x and y as {label, log, include, format}, series as {name, colour, shape,
 * hollow, line, step, marks, points: [{x, y, low, high, text, id, label}]}, key as legendOf() has it, rules as {y, text}, roofs as {points: [[x, y], [x, y]],
 * text, slope, leftwards}: lines, and where along those that slope their text stands, height, and `pick(id)` for a point that was clicked.
 */
function drawPoints(spec, width) {
  const height = spec.height || Math.round(Math.max(240, Math.min(380, width * 0.58)));
  const points = drawablePoints(spec);
  const format = { x: spec.x.format || asTick, y: spec.y.format || asTick };
  const ys = points.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]);
  const top = 22, bottom = height - 38;
  const y = makeScale(ys, { ...spec.y, from: bottom, to: top, ticks: Math.max(3, Math.round((bottom - top) / 45)) });
  const yTicks = spacedTicks(y, format.y, false, top - 8, bottom + 8);
  const left = Math.ceil(Math.max(...yTicks.map((t) => textWidth(t.text)), 8) + 10), right = width - 10;
  const x = makeScale(points.map((p) => p.x), { ...spec.x, from: left + 4, to: right - 4, ticks: Math.max(2, Math.floor(width / 90)) });
  const xTicks = spacedTicks(x, format.x, true, left - 12, width);
  const svg = svgEl("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: points.length ? "0" : null,
    "aria-label": `${spec.title}. ${spec.text || ""} ${plural(points.length, "point")}. Arrow keys go from point to point.`,
  });
  for (const t of yTicks) svg.append(svgEl("path", { class: "grid", d: `M${left},${t.at.toFixed(1)}H${right}` }),
    svgEl("text", { x: left - 6, y: (t.at + 4).toFixed(1), "text-anchor": "end" }, t.text));
  for (const t of xTicks) svg.append(svgEl("path", { class: "grid", d: `M${t.at.toFixed(1)},${top}V${bottom}` }),
    svgEl("text", { x: t.at.toFixed(1), y: bottom + 16, "text-anchor": "middle" }, t.text));
  svg.append(svgEl("path", { class: "axis", d: `M${left},${top}V${bottom}H${right}` }),
    svgEl("text", { x: 0, y: 12, class: "title" }, "↑ " + spec.y.label),
    svgEl("text", { x: right, y: height - 6, "text-anchor": "end", class: "title" }, spec.x.label + " →"));
  const labels = [];
  const inPlot = (px) => Math.max(left, Math.min(right, px));
  for (const rule of spec.rules || []) {
    const at = y(rule.y);
    if (at < top || at > bottom) continue;
    svg.append(svgEl("path", { class: "rule", d: `M${left},${at.toFixed(1)}H${right}` }));
    if (rule.text) labels.push({ x: right - 4, y: at - 5, text: rule.text, end: true });
  }
  for (const roof of spec.roofs || []) {
    const [from, to] = roof.points.map(([rx, ry]) => [x(rx), y(ry)]);
    if (from[1] > bottom) {  // it comes into view further on
      from[0] += ((bottom - from[1]) / (to[1] - from[1])) * (to[0] - from[0]);
      from[1] = bottom;
    }
    svg.append(svgEl("path", { class: "roof", d: `M${from[0].toFixed(1)},${from[1].toFixed(1)}L${to[0].toFixed(1)},${to[1].toFixed(1)}`,
      stroke: roof.colour === undefined ? "var(--soft)" : colourOf(roof.colour) }));
    if (!roof.text) continue;
    // Beside a slope, above what is flat.
    const along = roof.slope === undefined ? 1 : roof.slope;
    const lx = from[0] + along * (to[0] - from[0]), ly = from[1] + along * (to[1] - from[1]);
    labels.push(roof.slope === undefined ? { x: inPlot(lx) - 4, y: ly - 5, text: roof.text, end: true } : { x: lx + (roof.leftwards ? -8 : 10), y: ly + (roof.leftwards ? -4 : 12), text: roof.text, end: roof.leftwards });
  }
  for (const s of spec.series) {
    const own = points.filter((p) => p.series === s);
    if (s.line && own.length > (s.until === undefined ? 1 : 0)) {
      const d = own.map((p, i) => (i === 0 ? "M" : s.step ? `H${x(p.x).toFixed(1)}V` : "L") + (i > 0 && s.step ? y(p.y).toFixed(1) : `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`)).join("");
      const tail = s.until === undefined ? "" : `H${x(s.until).toFixed(1)}`;
      svg.append(svgEl("path", { class: "path", d: d + tail, stroke: colourOf(s.colour || 0) }));
    }
    for (const p of own) {
      if (p.low !== undefined && p.low !== null && p.high !== null)
        svg.append(svgEl("path", { class: "whisker", d: `M${x(p.x).toFixed(1)},${y(p.low).toFixed(1)}V${y(p.high).toFixed(1)}`, stroke: colourOf(s.colour || 0) }));
    }
    if (s.marks !== false) for (const p of own) svg.append(markNode(s, x(p.x), y(p.y), points.length > 300 ? 3 : 4));
    for (const p of own) if (p.label) labels.push({ x: x(p.x) + 8, y: y(p.y) + 4, text: p.label, shifts: [0, 13, 26, -13] });
  }
  svg.append(...placeLabels(labels, { left: left + 2, right: right - 2, top, bottom }));
  addPointing(svg, spec, points.map((p) => ({ p, at: [x(p.x), y(p.y)] })), width);
  return svg;
}

/** Tip and choice by pointer, and by arrow keys and Enter. */
function addPointing(svg, spec, marks, width) {
  marks.sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]);
  const ring = svgEl("circle", { class: "focus", r: 7, visibility: "hidden" });
  svg.append(ring);
  let current = -1;
  const show = (index) => {
    current = index;
    const { p, at } = marks[index];
    ring.setAttribute("cx", at[0]);
    ring.setAttribute("cy", at[1]);
    ring.setAttribute("visibility", "visible");
    const box = svg.getBoundingClientRect(), zoom = box.width / width;
    tip.show(p.text, window.scrollX + box.left + at[0] * zoom, window.scrollY + box.top + at[1] * zoom);
  };
  const hide = () => { ring.setAttribute("visibility", "hidden"); tip.hide(); };
  const pick = () => { if (spec.pick && current >= 0 && marks[current].p.id !== undefined) { hide(); spec.pick(marks[current].p.id); } };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), zoom = width / box.width;
    const px = (event.clientX - box.left) * zoom, py = (event.clientY - box.top) * zoom;
    let best = -1, distance = 24 * 24;
    marks.forEach(({ at }, i) => {
      const d = (at[0] - px) ** 2 + (at[1] - py) ** 2;
      if (d < distance) [best, distance] = [i, d];
    });
    if (best >= 0) show(best); else hide();
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("click", pick);
  svg.addEventListener("keydown", (event) => {
    if (marks.length === 0) return;
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (step) { show(current < 0 ? (step > 0 ? 0 : marks.length - 1) : (current + step + marks.length) % marks.length); event.preventDefault(); }
    else if (event.key === "Enter") pick();
    else if (event.key === "Escape") hide();
  });
}

/** The same points as a table, made when it is asked for. */
function pointsTable(spec) {
  const details = el("details", {}, el("summary", {}, "Data"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const rows = spec.series.flatMap((s) => s.points.map((p) => [s.name || "", (p.text || "").split("\n")[0], significant(p.x, 5), significant(p.y, 5)]));
    details.append(simpleTable(spec.title, [{ name: "series" }, { name: "point" }, { name: spec.x.label, number: true }, { name: spec.y.label, number: true }], rows));
  });
  return details;
}

const drawnCharts = new Set();

/** A figure that draws itself for its width, now and whenever that changes. `draw(width)` gives an SVG. */
function figureOf(spec, draw, legend) {
  const place = el("div", {});
  const node = el("figure", { "data-chart": spec.title }, el("h3", {}, spec.title), legend, place, spec.text ? el("figcaption", {}, spec.text) : null,
    spec.series ? pointsTable(spec) : null);
  let drawn = 0;
  const chart = {
    node,
    drawn: () => drawn > 0,
    redraw() {
      const width = Math.floor(place.clientWidth);
      if (width === 0 || width === drawn) return;
      drawn = width;
      place.replaceChildren(draw(width));
    },
  };
  drawnCharts.add(chart);
  return node;
}

function redrawCharts() {
  for (const chart of drawnCharts) {
    if (chart.node.isConnected) chart.redraw();
    else if (chart.drawn()) drawnCharts.delete(chart);  // it was taken out again
  }
}

/** Nothing where there is nothing to draw, and words where it is one problem's point or two. */
function pointsFigure(spec) {
  const points = drawablePoints(spec);
  if (points.length === 0) return null;
  const single = points.length === 1 || (points.length === 2 && !spec.roofs && points[0].id !== undefined && points[0].id === points[1].id);
  if (single) return el("figure", { "data-chart": spec.title }, el("h3", {}, spec.title), points.map((p) => el("p", {}, p.text.replace("\n", ": "))));
  return figureOf(spec, (width) => drawPoints(spec, width), legendOf(spec.series, spec.key));
}
