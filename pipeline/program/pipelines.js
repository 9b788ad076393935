// Host pipelines: what was found, what each ingredient is worth, and when the three workers were busy.

const kWorkers = ["copy in", "compute", "copy out"];

/** The staircase: a rectangle a copy or kernel; gaps are named where there is room. */
function drawLanes(pipeline, width) {
  const left = 64, right = width - 14, lane = 46, bar = 28, top = 8, bottom = top + kWorkers.length * lane;
  const x = (us) => left + (us / pipeline.total_us) * (right - left);
  const svg = svgEl("svg", { class: "chart", viewBox: `0 0 ${width} ${bottom + 22}`, role: "img",
    "aria-label": `When copies and kernels ran: ${pipeline.title}, ${asTime(pipeline.total_us)}. The table below says where each worker was idle.` });
  for (const t of spacedTicks(makeScale([0, pipeline.total_us], { from: left, to: right, pad: 0, ticks: Math.max(2, Math.floor(width / 110)) }), asTimeTick, true, left - 30, width - 6))
    svg.append(svgEl("path", { class: "grid", d: `M${t.at.toFixed(1)},${top}V${bottom}` }), svgEl("text", { x: t.at.toFixed(1), y: bottom + 16, "text-anchor": "middle" }, t.text));
  svg.append(svgEl("path", { class: "axis", d: `M${left},${top}V${bottom}H${right}` }));
  kWorkers.forEach((name, i) => svg.append(svgEl("text", { x: left - 8, y: top + i * lane + 19, "text-anchor": "end" }, name)));
  for (const [worker, chunk, from, to] of pipeline.spans) {
    const what = chunk < 0 ? "a whole operand" : "chunk " + chunk;
    svg.append(svgEl("rect", { x: x(from).toFixed(1), y: top + worker * lane, width: Math.max(0.3, x(to) - x(from)).toFixed(1), height: bar, class: "mark", fill: colourOf(worker), "fill-opacity": chunk % 2 ? 0.6 : 0.9,
      pointermove: (event) => tip.show(`${kWorkers[worker]} of ${what}\n${asTime(from)} to ${asTime(to)}`, event.pageX, event.pageY), pointerleave: () => tip.hide() }));
  }
  for (const [worker, from, to, cause] of pipeline.gaps) {
    if (textWidth(cause) > x(to) - x(from)) continue;
    svg.append(svgEl("text", { x: ((x(from) + x(to)) / 2).toFixed(1), y: top + worker * lane + bar + 13, "text-anchor": "middle", class: "inside" }, cause));
  }
  return svg;
}

/** Idle shares of each worker by cause, the largest first. */
function idleTable(pipeline) {
  const idle = new Map();
  for (const [worker, from, to, cause] of pipeline.gaps) {
    const key = worker + " " + cause;
    const known = idle.get(key) || [worker, cause, 0];
    known[2] += to - from;
    idle.set(key, known);
  }
  const rows = [...idle.values()].sort((a, b) => a[0] - b[0] || b[2] - a[2]);
  return rows.length === 0 ? null : simpleTable("Why workers were idle", [{ name: "worker" }, { name: "waiting for" }, { name: "time", number: true }, { name: "share", number: true }],
    rows.map(([worker, cause, us]) => [kWorkers[worker], cause, asTime(us), asPercent(us / pipeline.total_us)]));
}

function pipelineDetail(pipeline) {
  const ladder = [{ name: "step" }, { name: "time", number: true }, { name: "expected", number: true }, { name: "of bound", number: true }, { name: "pipeline", text: true }];
  return [el("h3", {}, pipeline.title),
    factList([["GPU", pipeline.device], ["best", pipeline.best],
      ["time", `${asTime(pipeline.us)}, ${asPercent(pipeline.bound_us / pipeline.us)} of the bound of ${asTime(pipeline.bound_us)} (${pipeline.limiter})`],
      ["serial loop", pipeline.serial ? `${asRatio(pipeline.serial[0])} (${asInterval(pipeline.serial[1], pipeline.serial[2])}) times the best’s time` : "not measured"],
      ["measured", pipeline.finished_at.replace("T", " ").replace("Z", " UTC") + (pipeline.complete ? "" : "; not all rounds")]]),
    simpleTable("Ladder: " + pipeline.title, ladder, pipeline.ladder.map(([name, us, expected, text]) => [name, asTime(us), asTime(expected), us === null ? "–" : asPercent(pipeline.bound_us / us), text])),
    pipeline.spans.length === 0 ? null : [figureOf({ title: "Staircase: " + pipeline.title, text: `One run of the best pipeline, its times from ${pipeline.times}. Neighbouring chunks differ in shade.` },
      (width) => drawLanes(pipeline, width), null), idleTable(pipeline)]];
}

function pipelinesSection(data) {
  return el("section", { id: "pipelines" }, el("h2", {}, "Host pipelines"),
    el("p", { class: "note" }, "Operands in host memory pass three workers: copy in, compute, copy out. The bound is what the slowest of them takes, with what has to pass before and after it."),
    data.pipelines.map(pipelineDetail));
}

roomSections.push({ id: "pipelines", title: "Pipelines", noun: "pipeline", section: pipelinesSection });
