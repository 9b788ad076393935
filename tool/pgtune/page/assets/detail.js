// One problem: what is said of it and why, how the search and the final went, its finalists and parameters, failures, provenance.

/** Rows of "ranking" as objects. */
const finalistsOf = (data, p) => p.ranking.map((row, place) => Object.fromEntries(data.ranking_columns.map((name, i) => [name, row[i]]).concat([["place", place]])));

function finalistsTable(data, p) {
  const finalists = finalistsOf(data, p), energy = finalists.some((f) => f.mj !== null);
  const columns = [{ name: "#", number: true }, { name: "time", number: true }, { name: "TFLOP/s", number: true }, { name: "× best", number: true }, { name: "95 % interval", number: true },
    { name: "MHz", number: true }, ...(energy ? [{ name: "energy", number: true }] : []), { name: "registers", number: true }, { name: "shared", number: true }, { name: "spills", number: true },
    { name: "stack", number: true }, { name: "differs from #1 in", text: true, wide: true }];
  const rows = finalists.map((f) => [f.place + 1, asTime(f.us), significant(f.tflops, 4), asRatio(f.ratio), asInterval(f.low, f.high), significant(f.mhz, 4),
    ...(energy ? [asEnergy(f.mj) + (f.pareto ? " ●" : "")] : []), f.registers, f.smem === null ? "–" : asBytes(f.smem), asBytes(f.spill), asBytes(f.local), f.place === 0 ? "" : data.texts[f.variant].replaceAll(",", " ")]);
  const baseline = (name, us, mhz, mj) => ["", asTime(us), significant(us ? p.flop / us / 1e6 : null, 4), asRatio(us ? p.base_us / us : null), "", significant(mhz, 4), ...(energy ? [asEnergy(mj)] : []), "", "", "", "", name];
  if (p.base_us) rows.push(baseline(p.baseline + " best", p.base_us, p.base_mhz, p.base_mj));
  if (p.first_us) rows.push(baseline(p.baseline + " first", p.first_us, null, null));
  return [simpleTable("Finalists", columns, rows), energy && finalists.some((f) => f.pareto) ? el("p", { class: "note" }, "● on the Pareto front: no finalist is both faster and needs less energy.") : null];
}

/** Screening times over the time of the search, and apart from them what the final said. */
function progressChart(p) {
  const steps = p.search.progress;
  if (steps.length === 0) return null;
  const begun = Date.parse(p.started), seconds = (ms) => Math.max(0, (ms - begun) / 1000);
  const end = Math.max(1, seconds(Date.parse(p.finished)), seconds(steps[steps.length - 1][2]));
  const settled = (name, us, more) => ({ name: name + " in the final", ...more, points: us ? [{ x: end, y: us, text: `${name} in the final: ${asTime(us)}` }] : [] });
  return pointsFigure({
    title: "Best so far", text: `${plural(p.search.tried, "variant")} tried, ${p.search.timed} timed. Screening samples are short: compare the line with the dashed one, which was screened alike. The final decides.` +
      (steps[0][2] < begun ? " Variants of an earlier search stand at 0." : ""),
    x: { label: "seconds of the search", include: [0, end] }, y: { label: "time of a launch", format: asTimeTick, include: p.base_screened_us ? [p.base_screened_us] : [] },
    rules: p.base_screened_us ? [{ y: p.base_screened_us, text: p.baseline + " best, screened alike" }] : [],
    series: [{ name: "screening", line: true, step: true, until: end, points: steps.map(([tried, us, ms]) => ({ x: seconds(ms), y: us, text: `variant ${tried}: ${asTime(us)}` })) },
      settled("winner", p.us, { colour: 1, shape: 3 }), settled(p.baseline + " best", p.base_us, { colour: 1, shape: 1, hollow: true })],
  });
}

function paretoChart(data, p) {
  const finalists = finalistsOf(data, p).filter((f) => f.mj !== null);
  if (finalists.length === 0) return null;
  const point = (f) => ({ x: f.us, y: f.mj, text: `#${f.place + 1}\n${asTime(f.us)}, ${asEnergy(f.mj)}` });
  const front = finalists.filter((f) => !finalists.some((g) => g !== f && g.us <= f.us && g.mj <= f.mj && (g.us < f.us || g.mj < f.mj))).sort((a, b) => a.us - b.us);
  return pointsFigure({
    title: "Time against energy", text: "One launch. The line joins the Pareto front: finalists that no other beats in both.", x: { label: "time", format: asTimeTick }, y: { label: "energy", format: asEnergyTick },
    series: [{ name: "Pareto front", line: true, marks: false, colour: 0, points: front.map(point) }, { name: "finalists", colour: 0, points: finalists.map(point) },
      { name: p.baseline + " best", colour: 1, shape: 1, hollow: true, points: p.base_mj && p.base_us ? [{ x: p.base_us, y: p.base_mj, text: `${p.baseline} best\n${asTime(p.base_us)}, ${asEnergy(p.base_mj)}` }] : [] }],
  });
}

/** Each variant a line through its parameters to its time. */
function drawParallel(space, width) {
  const fit = Math.max(2, Math.floor((width - 70) / 84));
  const parameters = space.parameters.map((parameter, index) => ({ ...parameter, index })).slice(0, fit - 1);
  const height = 320, top = 40, bottom = height - 14, left = 36, right = width - 62;
  const at = (i) => left + (i * (right - left)) / parameters.length;
  const svg = svgEl("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Parallel coordinates of ${plural(space.rows.length, "variant")} of ${space.template}; the axes from left: ${parameters.map((q) => q.name).join(", ")}, time.` });
  const times = space.rows.map((row) => row[0]);
  const y = makeScale(times, { log: true, from: bottom, to: top, pad: 0.02, ticks: 6 });
  const place = (parameter, value) => {
    const n = parameter.values.length;
    return value < 0 ? bottom : n === 1 ? (top + bottom) / 2 : bottom - (value * (bottom - top)) / (n - 1);
  };
  const slowest = space.rows.length;
  for (let i = slowest - 1; i >= 0; i--) {
    const row = space.rows[i];
    const points = parameters.map((q, j) => [at(j), place(q, row[2 + q.index]) + ((i * 7) % 11 - 5) * 0.45]);
    points.push([right, y(row[0])]);
    const d = points.map(([px, py], j) => (j === 0 ? "M" : "L") + px.toFixed(1) + "," + py.toFixed(1)).join("");
    svg.append(svgEl("path", { class: i === 0 ? "thread winner" : "thread", d, stroke: i === 0 ? null : `var(--q${Math.min(4, Math.floor((5 * i) / slowest))})` },
      svgEl("title", {}, `${asTime(row[0])}: ` + space.parameters.map((q, k) => `${q.name}=${row[2 + k] < 0 ? "–" : q.values[row[2 + k]]}`).join(" "))));
  }
  const room = (right - left) / Math.max(parameters.length, 1);
  const shorten = (text, pixels) => (textWidth(text) <= pixels ? text : text.slice(0, Math.max(2, Math.floor(pixels / kLetterWidth) - 1)) + "…");
  parameters.forEach((q, j) => {
    svg.append(svgEl("path", { class: "axis", d: `M${at(j).toFixed(1)},${top}V${bottom}` }),
      svgEl("text", { x: (at(j) - 32).toFixed(1), y: j % 2 ? 26 : 12 }, shorten(q.name, Math.min(2 * room - 8, width - at(j) + 24)), svgEl("title", {}, q.name)));
    let last = Infinity;
    q.values.forEach((value, v) => {
      const py = place(q, v);
      if (last - py < 14) return;
      last = py;
      svg.append(svgEl("text", { x: (at(j) + 4).toFixed(1), y: Math.min(py + 4, bottom + 2).toFixed(1), class: "inside" }, shorten(value, room - 12)));
    });
  });
  svg.append(svgEl("path", { class: "axis", d: `M${right},${top}V${bottom}` }), svgEl("text", { x: right + 4, y: parameters.length % 2 ? 26 : 12 }, "time"));
  for (const t of spacedTicks(y, asTimeTick, false, top - 7, bottom + 7)) svg.append(svgEl("text", { x: right + 5, y: (t.at + 4).toFixed(1) }, t.text));
  return svg;
}

function variantsFigures(data, p) {
  const holder = el("div", { class: "whole" });
  const spaces = p.search.spaces.filter((space) => space.rows.length > 1 && space.parameters.length > 0);
  if (spaces.length === 0) return null;
  const template = spaces.length > 1 ? (name) => chooser("Template", spaces.map((s) => [s.template, `${s.template} (${s.timed} timed)`]), show, name) : () => null;
  const show = (name) => {
    const found = spaces.find((s) => s.template === name);
    const parameters = found.parameters.map(([text, importance]) => {
      const [parameter, values] = data.texts[text].split("=", 2);
      return { name: parameter, values: values.split(","), importance };
    });
    const space = { ...found, parameters };
    const shown = space.rows.length < space.timed ? `${space.rows.length} of ${space.timed} timed variants: the fastest, and others evenly` : `All ${plural(space.timed, "timed variant")}`;
    const text = shown + ". Axes from left by importance; the fastest in screening is drawn thick, others paler the slower they are.";
    holder.replaceChildren(figureOf({ title: "Variants of " + space.template, text }, (width) => drawParallel(space, width), template(name)),
      el("figure", {}, el("h3", {}, "What matters"), simpleTable("Importance of parameters", [{ name: "parameter" }, { name: "share", number: true }, { name: "", bar: true }, { name: "values", text: true }],
        space.parameters.map((q) => [q.name, asPercent(q.importance), bar(q.importance), q.values.join(" ")])),
      el("figcaption", {}, "Share of the variance of log time that a parameter explains alone among the timed variants, adjusted for chance. A search does not vary parameters independently, so shares overlap.")));
    redrawCharts();
  };
  show((spaces.find((s) => s.template === p.template) || spaces[0]).template);
  return holder;
}

function sampleFigures(p) {
  if (p.samples.length === 0) return [];
  const names = ["winner", "baseline best", "runner-up", "baseline first", "baseline other"].filter((name) => p.samples.some((s) => s.name === name));
  const shown = (name) => name.replace("baseline", p.baseline);
  const roundOf = (s, place) => 1 + place / s.positions;
  const offset = Math.max(0, ...p.samples.filter((s) => s.stage === "final").flatMap((s) => s.place.map((place) => roundOf(s, place))));
  const two = new Set(p.samples.map((s) => s.stage)).size > 1;
  const where = (s, round) => (s.stage === "confirm" ? offset + round : round);
  const chart = (title, key, label, format, text) => {
    const having = p.samples.filter((s) => s[key]);
    if (having.length === 0) return null;
    return pointsFigure({
      title, text, height: 230, x: { label: two ? "round of the final, then of the confirmation" : "round of the final", include: [1], format: (v) => (Number.isInteger(v) ? String(v) : "") }, y: { label, format },
      series: names.map((name, i) => ({ name: shown(name), colour: i, shape: i, points: having.filter((s) => s.name === name).flatMap((s) => s[key].map((value, j) => ({ x: where(s, roundOf(s, s.place[j])), y: value,
        text: `${shown(name)}, ${s.stage} round ${Math.floor(roundOf(s, s.place[j]))}\n${value === null ? "" : format(value)}` }))) })),
    });
  };
  return [
    chart("The final’s samples", "us", "time of a launch", asTimeTick, "In the order in which they were taken: within a round all take turns."),
    chart("SM clock", "mhz", "MHz", (v) => significant(v, 4) , "Measured on the GPU, over each sample."),
    chart("Power", "w", "W", (v) => significant(v, 3), "Mean over each settled sample."),
  ];
}

function outcomesTable(data, p) {
  const total = p.search.tried;
  return total === 0 ? el("p", {}, "No trial of this search is in the database.") : simpleTable("What became of the variants", [{ name: "outcome" }, { name: "reason", text: true }, { name: "variants", number: true }, { name: "", bar: true }],
    p.search.outcomes.map(([kind, reason, count]) => [kind, data.texts[reason], count, bar(count / total)]));
}

/** What the winner and the baseline's best both have, side by side, and what only one has. */
function parametersTable(data, p) {
  const own = new Map(data.texts[p.variant].split(",").map((part) => part.split("=", 2)));
  const take = (...names) => (names.every((name) => own.has(name)) ? names.map((name) => { const value = own.get(name); own.delete(name); return value; }).join("x") : "");
  const algorithm = data.texts[p.base_algorithm];
  const theirs = new Map(algorithm.startsWith("algorithm ") ? algorithm.split(", ").map((part) => part.split(/ (.*)/, 2)) : algorithm ? [["algorithm", algorithm]] : []);
  const shared = [["tile", take("BM", "BN")], ["stages", take("STAGES")], ["split-K", take("SPLIT_K")], ["cluster", take("CLUSTER_M", "CLUSTER_N", "CLUSTER_K")]];
  const rows = shared.map(([name, value]) => [name, value, theirs.get(name) || ""]).filter(([, a, b]) => a || b);
  const others = [...theirs].filter(([name]) => !shared.some(([other]) => other === name)).map(([name, value]) => [name, "", value]);
  return simpleTable("Parameters", [{ name: "parameter" }, { name: p.template, text: true, wide: true }, { name: p.baseline + " best", text: true }],
    [...rows, ...others, ["others", [...own].map(([name, value]) => name + "=" + value).join(" "), ""]]);
}

function machineCode(p, winner) {
  return factList([["registers", `${winner.registers} a thread`], ["shared memory", winner.smem === null ? "not known" : `${asBytes(winner.smem)} a CTA`],
    ["spills", winner.spill === 0 ? "none" : `${winner.spill} bytes a thread`], ["stack frame", winner.local === 0 ? "none" : `${winner.local} bytes a thread`], ...(p.cubin ? [["cubin", p.cubin]] : [])]);
}

/** The commands that search it again and export it, with a button that copies them. */
function commandsOf(p) {
  const text = p.commands.join("\n"), shown = el("pre", { tabindex: "0", "aria-label": "Commands" }, text);
  const copy = () => (navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject()).then(() => { button.textContent = "Copied"; }, () => getSelection().selectAllChildren(shown));
  const button = el("button", { type: "button", click: copy }, "Copy");
  return el("div", { class: "commands" }, shown, button);
}

/** The winner's counters beside the baseline's, and what they say. */
function countersOf(data, p) {
  if (!p.counters) return [];
  const { names, rows, why } = p.counters;
  return [
    el("h3", {}, "Hardware counters"),
    simpleTable("Hardware counters of one launch", [{ name: "counter" }, ...names.map((name) => ({ name: name === "#1" ? "winner" : name, number: true }))], rows.map(([title, ...cells]) => [data.texts[title], ...cells])),
    factList(names.flatMap((name, i) => why[i].map((text) => [name === "#1" ? "winner" : name, data.texts[text]]))),
  ];
}

function detailOf(data, p) {
  const tile = (value, what) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, what));
  const texts = (name) => p.facts.filter(([what]) => what === name).map(([, text]) => data.texts[text]);
  const dram = p.roof.lowest === "DRAM" || p.flop === 0;
  return [
    el("h2", { tabindex: "-1", id: "problem-title" }, titleOf(p)),
    el("p", { class: "headline " + verdictClass(p.verdict) }, texts("verdict")),
    el("p", { class: "note" }, data.groups[p.group].headline),
    el("div", { class: "tiles" }, tile(asRatio(p.ratio), `× ${p.baseline} best (${asInterval(p.low, p.high)})`), tile(asTime(p.us), "a launch"), tile(dram ? bandwidth(p).toFixed(0) : significant(p.tflops, 4), dram ? "GB/s" : "TFLOP/s"),
      p.roof.share === null ? null : tile(asPercent(p.roof.share), "of what " + p.roof.lowest + " allows" + (p.roof.above === undefined ? "" : ": " + data.texts[p.roof.above]))),
    el("p", {}, texts("why").join(" ")),
    factList(p.facts.filter(([what]) => !["verdict", "why", "regime"].includes(what)).map(([what, text]) => [what, data.texts[text]])),
    commandsOf(p),
    el("h3", {}, "Search and final"),
    el("div", { class: "charts" }, [progressChart(p), ...sampleFigures(p), paretoChart(data, p)].filter(Boolean)),
    el("h3", {}, "Finalists"), finalistsTable(data, p),
    el("h3", {}, "Parameters"), parametersTable(data, p), machineCode(p, finalistsOf(data, p)[0]),
    ...countersOf(data, p),
    el("h3", {}, "Variants"), el("div", { class: "charts" }, variantsFigures(data, p)),
    el("h3", {}, "Outcomes"), outcomesTable(data, p),
    el("h3", {}, "Provenance"), factList([...p.provenance.map(([what, text]) => [what, data.texts[text]]), ["started", p.started], ["finished", p.finished]]),
  ];
}
