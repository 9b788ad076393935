// The charts of all visible problems.

const kSizeAxis = { label: "operations of one launch", log: true, format: (v) => asTick(v) };
const kBytesAxis = { ...kSizeAxis, label: "bytes of one launch" };

/** One series a kind: a dtype of GEMM, or an operation. */
function byKind(problems, kinds, point, more) {
  return kinds.map((kind, i) => ({ name: kind, colour: i, shape: i, always: true, ...more,
    points: problems.filter((p) => p.kind === kind).map(point).filter((p) => p !== null) }));
}

const about = (p, text) => titleOf(p) + "\n" + text;

function ratioChart(problems, pick) {
  return pointsFigure({
    title: `Speed against ${baselineOf(problems)}’s best, by size`, text: "Above 1 the winner is faster. Whiskers are 95 % intervals; a point shows its problem when it is clicked.",
    x: kSizeAxis, y: { label: `× ${baselineOf(problems)}’s best`, log: true, include: [1], format: (v) => String(Number(v.toPrecision(3))) }, rules: [{ y: 1, text: "equal" }], pick,
    series: kVerdicts.map(({ name, colour, shape, hollow }) => ({ name, colour, shape, hollow, always: true,
      points: problems.filter((p) => p.verdict === name && p.ratio !== null).sort((a, b) => a.ratio - b.ratio).map((p) => ({ x: p.flop, y: p.ratio, low: p.low, high: p.high, id: p.id, label: name === "slower" ? p.title : "",
        text: about(p, `${asRatio(p.ratio)} (${asInterval(p.low, p.high)}) × ${p.baseline} best: ${name}`) })) })),
  });
}

function pairedChart(title, unit, text, problems, kinds, pick, [axis, size], winner, baseline) {
  const say = (p, value, who) => about(p, `${who}: ${significant(value, 4)} ${unit}`);
  return pointsFigure({
    title, text, x: axis, y: { label: unit, log: true }, pick, key: [{ name: "winner", shape: 0 }, { name: baselineOf(problems) + " best", shape: 0, hollow: true }],
    series: [...byKind(problems, kinds, (p) => (baseline(p) === null ? null : { x: size(p), y: baseline(p), id: p.id, text: say(p, baseline(p), p.baseline + " best") }), { hollow: true, always: false, name: "" }),
      ...byKind(problems, kinds, (p) => ({ x: size(p), y: winner(p), id: p.id, text: say(p, winner(p), "winner") }))],
  });
}

/** Straight roofs over the intensities there are, and the points of each level below them. */
function rooflineChart(data, problems, kinds, pick) {
  const measured = problems.filter((p) => p.ceilings !== null && p.flop > 0);
  if (measured.length === 0) return null;
  const of = (p) => data.ceilings[p.ceilings];
  const levels = [["DRAM", (p) => p.roof.dram, "dram"], ["L2", (p) => p.roof.l2, "l2"], ["shared memory", (p) => p.roof.smem ?? null, "smem"]];
  const xs = measured.flatMap((p) => levels.map(([, intensity]) => intensity(p))).filter((v) => v !== null);
  const low = Math.min(...xs) / 1.3, high = Math.max(...xs) * 1.3;
  // Of several kinds of GPU the highest roofs are drawn; each point's share in the table is of its own kind's.
  const top = (get) => Math.max(...measured.map((p) => get(of(p)) || 0));
  const arithmetic = kinds.map((kind) => [kind, top((c) => c.flops[kind])]).filter(([, flops]) => flops > 0).sort((a, b) => b[1] - a[1]);
  const most = arithmetic.length ? arithmetic[0][1] : Infinity;
  const roofs = [];
  for (const [name, , key] of levels) {
    const bytes = top((c) => c[key]);
    if (bytes > 0 && bytes * low < most) roofs.push({ points: [[low, bytes * low / 1e12], [Math.min(high, most / bytes), Math.min(bytes * high, most) / 1e12]], text: `${name} ${(bytes / 1e9).toFixed(0)} GB/s`,
      slope: { dram: 0.35, l2: 0.75, smem: 0.55 }[key], leftwards: key !== "dram" });
  }
  for (const [kind, flops] of arithmetic) {
    const same = roofs.find((r) => r.flat && Math.abs(Math.log(r.flat / flops)) < 0.02);
    if (same) same.text += ", " + kind;
    else roofs.push({ flat: flops, points: [[low, flops / 1e12], [high, flops / 1e12]], text: kind, colour: kinds.indexOf(kind) });
  }
  for (const roof of roofs) if (roof.flat) roof.text += ` ${(roof.flat / 1e12).toFixed(0)} TFLOP/s`;
  const points = (intensity, tflops, who) => (p) => (intensity(p) === null || tflops(p) === null ? null : { x: intensity(p), y: tflops(p), id: p.id,
    text: about(p, `${who}: ${significant(tflops(p), 4)} TFLOP/s at ${significant(intensity(p), 3)} FLOP/byte`) + (p.roof.above === undefined ? "" : `\nabove ${p.roof.lowest}’s roof: ${data.texts[p.roof.above]}`) });
  const drawn = [["baseline best, bytes of DRAM", 0, true, points((p) => (p.roof.base ? p.roof.base[0] : p.roof.dram), (p) => p.base_tflops, "baseline best")],
    ...levels.map(([name, intensity], i) => [`winner, bytes of ${name}`, [0, 7, 6][i], false, points(intensity, (p) => p.tflops, `winner, bytes of ${name}`)]).reverse()]
    .filter(([, , , point]) => measured.some((p) => point(p) !== null));
  return pointsFigure({
    title: `Roofline of DRAM, L2${top((c) => c.smem) > 0 ? ", shared memory" : ""} and arithmetic`, height: 430, pick, roofs,
    text: "Roofs are what pgtune’s own kernels reached on this GPU. " + (measured.some((p) => p.counters)
        ? "Bytes are counted by the profiler where a problem has counters, else computed: every operand once, and what the template says of L2."
        : "Bytes are computed, not counted: every operand once, and what the template says of L2.") +
      (measured.some((p) => p.roof.above !== undefined) ? " A point above a roof says why when it is pointed at." : ""),
    x: { label: "FLOP per byte", log: true, include: [low, high], pad: 0 }, y: { label: "TFLOP/s", log: true, include: roofs.flatMap((r) => (r.flat ? [r.flat / 1e12] : [])) },
    key: drawn.map(([name, shape, hollow]) => ({ name, shape, hollow })),
    series: drawn.flatMap(([who, shape, hollow, point], i) => byKind(measured, kinds, point, { ...(i < drawn.length - 1 ? { name: "", always: false } : {}), ...(shape > 0 ? { shape } : {}), hollow })),
  });
}

function energyChart(problems, kinds, pick) {
  const measured = problems.filter((p) => p.energy && p.ratio !== null);
  if (measured.length === 0) return null;
  const base = baselineOf(measured);
  return pointsFigure({
    title: `Joules against time, both over ${base}’s best`, text: "Below 1 on both axes the winner is faster and needs less energy. Whiskers: interval of the joules.", pick,
    x: { label: `time × ${base}’s best`, log: true, include: [1], format: (v) => String(Number(v.toPrecision(3))) },
    y: { label: `joules × ${base}’s best`, log: true, include: [1], format: (v) => String(Number(v.toPrecision(3))) }, rules: [{ y: 1, text: "equal" }],
    series: byKind(measured, kinds, (p) => ({ x: 1 / p.ratio, y: 1 / p.energy[0], low: p.energy[2] ? 1 / p.energy[2] : null, high: p.energy[1] ? 1 / p.energy[1] : null, id: p.id,
      text: about(p, `${asRatio(1 / p.ratio)} × the time, ${asRatio(1 / p.energy[0])} × the joules`) })),
  });
}

function chartsOf(data, problems, pick) {
  const kinds = [...new Set(data.problems.map((p) => p.kind))];
  const present = kinds.filter((kind) => problems.some((p) => p.kind === kind));
  if (problems.length === 0) return [el("p", {}, "No problem passes the filter.")];
  return [
    rooflineChart(data, problems, kinds, pick),
    pairedChart("Arithmetic", "TFLOP/s", "", problems, kinds, pick, [kSizeAxis, (p) => p.flop], (p) => p.tflops, (p) => p.base_tflops),
    pairedChart("Memory", "GB/s", "Bytes of every operand once, over the time.", problems, kinds, pick, [kBytesAxis, (p) => p.bytes], bandwidth, (p) => (p.base_us ? p.bytes / p.base_us / 1e3 : null)),
    energyChart(problems, kinds, pick),
  ].filter((chart) => chart !== null && present.length > 0);
}

function boardsSection(data) {
  if (data.boards.length === 0) return null;
  return el("section", { id: "boards" }, el("h2", {}, "Boards side by side"), data.boards.map((group) => {
    const names = group.boards.map((uuid, i) => (i < 26 ? String.fromCharCode(65 + i) : String(i + 1)));
    const more = (ratio) => `${Math.abs(100 * (ratio - 1)).toFixed(1)} % ${ratio < 1 ? "less" : "more"}`;
    const columns = [{ name: "problem" }].concat(names.flatMap((n) => [{ name: n + " time", number: true }, { name: n + " × best", number: true }, { name: n + " MHz", number: true }]));
    const rows = group.rows.map((row) => [row.title].concat(row.cells.flatMap((c) => (c ? [asTime(c[0]) + (c[3] ? "" : " ~"), asRatio(c[1]), significant(c[2], 4)] : ["–", "–", "–"]))));
    const series = group.boards.slice(1).map((uuid, i) => ({ name: `${names[i + 1]} over A`, colour: i, shape: i, always: true,
      points: group.rows.filter((row) => row.cells[0] && row.cells[i + 1] && row.cells[0][3] && row.cells[i + 1][3])
        .map((row) => ({ x: row.flop, y: row.cells[i + 1][0] / row.cells[0][0], text: `${row.title}\n${names[i + 1]}: ${more(row.cells[i + 1][0] / row.cells[0][0])} time than A` })) }));
    return [el("h3", {}, group.device_class + "; " + group.conditions), factList(group.boards.map((uuid, i) => [names[i], uuid])),
      group.differences.map((d) => el("p", {}, `${names[d.board]} takes ${more(d.median)} time than A (median of ${plural(d.problems, "problem")}; ${more(d.low)} to ${more(d.high)}).`)),
      series.some((s) => s.points.length) ? el("div", { class: "charts" }, pointsFigure({ title: "Time of the same variant on other boards", text: "1: as on board A.", series, x: kSizeAxis,
        y: { label: "time × board A", include: [1] }, rules: [{ y: 1, text: "equal" }] })) : null,
      rows.length ? simpleTable("Boards side by side", columns, rows) : el("p", {}, "No problem was measured on two of them."),
      rows.some((row) => row.some((cell) => String(cell).endsWith("~"))) ? el("p", { class: "note" }, "~ the board’s own best: it has not timed that variant") : null];
  }));
}

/** Each interval at the time of its largest M, which bounds that of the others; and what the probes took. */
function familyChart(family, title) {
  const first = (i) => (i === 0 ? family.first_m : family.intervals[i - 1][0] + 1);
  const of = (kernel) => family.intervals.map((interval, i) => [interval, i]).filter(([interval]) => interval[1] === kernel);
  const probes = (at) => family.probes.filter((probe) => probe[at] !== null);
  return pointsFigure({
    title, text: "A line is an interval of M, coloured by its kernel, at the time of its largest M. Hollow marks are probes.",
    x: { label: "M", log: true, include: [family.first_m] }, y: { label: "time", log: true, format: asTimeTick },
    roofs: family.intervals.map(([last, kernel, us], i) => ({ points: [[first(i), us], [last, us]], text: "", colour: kernel })),
    series: [...family.kernels.map((name, kernel) => ({ name: "k" + (kernel + 1), colour: kernel, shape: [0, 1, 2, 4][(kernel >> 3) & 3], always: true,
      points: of(kernel).map(([[last, , us], i]) => ({ x: last, y: us, text: `M ${first(i)} to ${last}: k${kernel + 1}\n${asTime(us)} at ${last}\n${name.replaceAll(",", " ")}` })) })),
    ...[["cuBLASLt’s first choice", 3, "bad"], ["searched alone", 2, "soft"]].map(([name, at, colour]) => ({ name, colour, shape: 3, hollow: true, always: true,
      points: probes(at).map((probe) => ({ x: probe[0], y: probe[at], text: `M ${probe[0]}, ${name}: ${asTime(probe[at])}\nfamily: ${asTime(probe[1])}` })) }))],
  });
}

function familiesSection(data) {
  if (data.families.length === 0) return null;
  const loss = (family) => family.probes.map((probe) => probe[1] / probe[2] - 1);
  const titles = data.families.map((family) => family.title + (family.order ? ", batch-invariant" : ""));
  return el("section", { id: "families" }, el("h2", {}, "Families"),
    simpleTable("Families", [{ name: "family" }, { name: "kernels", number: true }, { name: "intervals", number: true }, { name: "probes", number: true }, { name: "loss, median", number: true }, { name: "largest", number: true }, { name: "GPU" }],
      data.families.map((family, i) => [titles[i], family.kernels.length, family.intervals.length, family.probes.length,
        ...(family.probes.length ? [asPercent(median(loss(family))), asPercent(Math.max(...loss(family)))] : ["–", "–"]), `${family.device}; ${family.conditions}`])),
    el("div", { class: "charts" }, data.families.map((family, i) => familyChart(family, titles[i]))));
}

function comparisonSection(data, pick) {
  const comparison = data.comparison;
  if (!comparison) return null;
  const count = (change) => comparison.rows.filter((row) => row.change === change).length;
  const kinds = { faster: { colour: "good", shape: 0 }, slower: { colour: "bad", shape: 4 }, unclear: { colour: "even", shape: 3, hollow: true }, held: { colour: "even", shape: 1, hollow: true } };
  const noise = (row) => row.change === "unclear" || row.change === "held";
  const ratio = (row) => data.problems[row.id].ratio / row.before_ratio, effect = (row) => Math.abs(Math.log(ratio(row))) || 0;
  const rows = [...comparison.rows].sort((a, b) => noise(a) - noise(b) || effect(b) - effect(a));
  return el("section", { id: "comparison" }, el("h2", {}, "Compared with " + comparison.name),
    el("p", {}, `Of ${plural(comparison.rows.length, "problem")} in both: ${count("faster")} faster against the baseline beyond the noise, ${count("slower")} slower, ${count("held")} held, ${count("unclear")} unclear.`),
    el("p", { class: "note" }, "Judged by each session’s own ratio to the baseline’s best, in which clocks and temperature cancel: faster or slower where the two 95 % intervals lie apart by more than the margin of ties."),
    comparison.rows.length === 0 ? null : el("div", { class: "charts" }, pointsFigure({ title: "Speed now over speed before, by size", text: "Above 1 the winner takes less time than the one before.", pick,
      x: kSizeAxis, y: { label: "× before", include: [1] }, rules: [{ y: 1, text: "equal" }],
      series: Object.entries(kinds).map(([kind, look]) => ({ name: kind, always: true, ...look, points: comparison.rows.filter((row) => row.change === kind && row.speed !== null)
        .map((row) => ({ x: data.problems[row.id].flop, y: row.speed, id: row.id, text: about(data.problems[row.id], `${asRatio(row.speed)} × before: ${kind}`) })) })) })),
    comparison.rows.length === 0 ? null : simpleTable("What changed", [{ name: "problem" }, { name: "change" }, { name: "ratio, now over before", number: true }, { name: "before", number: true }, { name: "now", number: true }, { name: "× before", number: true },
      { name: "baseline × before", number: true }, { name: "× best before", number: true }, { name: "× best now", number: true }], rows.map((row) => {
      const p = data.problems[row.id];
      return [el("button", { type: "button", click: () => pick(row.id) }, titleOf(p)), el("span", { class: kinds[row.change].colour }, row.change), asRatio(Number.isFinite(ratio(row)) ? ratio(row) : null), asTime(row.before_us), asTime(p.us), asRatio(row.speed), asRatio(row.baseline),
        `${asRatio(row.before_ratio)} (${asInterval(row.before_low, row.before_high)})`, `${asRatio(p.ratio)} (${asInterval(p.low, p.high)})`];
    }), (i) => (noise(rows[i]) ? "noise" : null)));
}
