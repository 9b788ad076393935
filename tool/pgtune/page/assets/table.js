// The table of problems: sorted by a click on a column, filtered by words and choices; the charts follow the filter.

const titleOf = (p) => p.title + (p.marks ? " " + p.marks : "");
const bandwidth = (p) => p.bytes / p.us / 1e3;

const kColumns = [
  { name: "problem", class: "name", value: (p) => p.flop, cell: (p, open) => el("button", { type: "button", click: () => open(p.id) }, titleOf(p)) },
  { name: "verdict", value: (p) => p.verdict, cell: (p) => el("span", { class: verdictClass(p.verdict) }, p.verdict) },
  { name: "× best", class: "number", value: (p) => p.ratio, cell: (p) => asRatio(p.ratio) },
  { name: "95 % interval", class: "number", value: (p) => p.low, cell: (p) => asInterval(p.low, p.high) },
  { name: "× first", class: "number", value: (p) => p.first_ratio, cell: (p) => asRatio(p.first_ratio) },
  { name: "time", class: "number", value: (p) => p.us, cell: (p) => asTime(p.us) },
  { name: "TFLOP/s", class: "number", value: (p) => (p.flop > 0 ? p.tflops : null), cell: (p) => (p.flop > 0 ? significant(p.tflops, 4) : "–") },
  { name: "GB/s", class: "number", value: bandwidth, cell: (p) => bandwidth(p).toFixed(0) },
  { name: "of roof", class: "number", value: (p) => p.roof.share, cell: (p) => (p.roof.share === null ? "–" : asPercent(p.roof.share) + " " + p.roof.lowest) },
  { name: "joules × best", class: "number", value: (p) => (p.energy ? 1 / p.energy[0] : null), cell: (p) => asRatio(p.energy ? 1 / p.energy[0] : null) },
  { name: "template", value: (p) => p.template },
];

const choices = (problems, of) => [["", "all"]].concat([...new Set(problems.map(of))].sort().map((value) => [value, value]));

function problemsSection(data, state, changed, open) {
  const said = (c) => data.problems.some((p) => c.value(p) !== null && (c.name !== "template" || p.template !== data.problems[0].template));
  const shown = kColumns.filter(said);
  const body = el("tbody", {});
  const count = el("output", { "aria-live": "polite" });
  const heads = shown.map((column) => el("th", { scope: "col", class: column.class, "aria-sort": "none" },
    el("button", { type: "button", click: () => sortBy(column) }, column.name)));
  let sorted = { column: shown[0], up: true };
  function sortBy(column) {
    sorted = { column, up: sorted.column === column ? !sorted.up : column.class !== "number" };
    render();
  }
  function render() {
    const rows = visible(data, state);
    const key = sorted.column.value;
    rows.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      return (x < y ? -1 : x > y ? 1 : a.id - b.id) * (sorted.up ? 1 : -1);
    });
    heads.forEach((head, i) => head.setAttribute("aria-sort", shown[i] !== sorted.column ? "none" : sorted.up ? "ascending" : "descending"));
    body.replaceChildren(...rows.map((p) => el("tr", { "data-id": p.id, "aria-current": state.chosen && p.id === state.problem ? "true" : null },
      shown.map((c) => el("td", { class: c.class }, c.cell ? c.cell(p, open) : c.value(p))))));
    count.textContent = `${rows.length} of ${plural(data.problems.length, "problem")}`;
  }
  const set = (name) => (value) => { state[name] = value; render(); changed(); };
  const search = el("input", { type: "search", placeholder: "4096 bf16 nt", size: 18, input: () => set("words")(search.value) });
  const filters = el("form", { class: "filters", role: "search", submit: (event) => event.preventDefault() },
    el("label", {}, "Words", search),
    chooser("kind", choices(data.problems, (p) => p.kind), set("kind"), ""),
    chooser("verdict", choices(data.problems, (p) => p.verdict), set("verdict"), ""),
    shown.some((c) => c.name === "template") ? chooser("template", choices(data.problems, (p) => p.template), set("template"), "") : null,
    data.groups.length > 1 ? chooser("GPU and conditions", [["", "all"]].concat(data.groups.map((g, i) => [String(i), g.headline])), set("group"), "") : null,
    count);
  render();
  state.renderTable = render;
  return el("section", { id: "problems" }, el("h2", {}, "Problems"), filters,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of problems" },
      el("table", {}, el("caption", { hidden: true }, "Problems with the winner’s speed beside the baseline’s"), el("thead", {}, el("tr", {}, heads)), body)));
}

function visible(data, state) {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  return data.problems.filter((p) => (!state.kind || p.kind === state.kind) && (!state.verdict || p.verdict === state.verdict) &&
    (!state.template || p.template === state.template) && (state.group === "" || p.group === Number(state.group)) &&
    words.every((word) => (p.title + " " + p.template + " " + p.verdict).toLowerCase().includes(word)));
}
