// Puts the page together and follows what the reader chooses.

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  data.problems.forEach((p, id) => { p.id = id; });
  const state = { words: "", kind: "", verdict: "", template: "", group: "", problem: 0, chosen: false, renderTable: () => {} };
  const fromHash = () => {
    const found = /^#problem-(\d+)$/.exec(location.hash);
    const id = found ? Number(found[1]) - 1 : -1;
    return id >= 0 && id < data.problems.length ? id : -1;
  };
  const charts = el("div", { class: "charts" }), lead = el("div", {});
  const detail = el("section", { id: "problem" }, chooser("Problem", data.problems.map((p) => [String(p.id), titleOf(p)]), (id) => open(Number(id), false), ""), el("div", {}));
  const drawCharts = () => {
    const shown = visible(data, state), ratios = shown.length > 0 ? ratioChart(shown, open) : null;
    lead.replaceChildren(...(ratios === null ? [] : [ratios]));
    charts.replaceChildren(...chartsOf(data, shown, open));
    redrawCharts();
  };
  const showDetail = () => {
    detail.querySelector("select").value = String(state.problem);
    detail.lastChild.replaceChildren(...detailOf(data, data.problems[state.problem]).flat(Infinity).filter((node) => node !== null && node !== undefined));
    redrawCharts();
  };
  function open(id, move = true) {
    state.problem = id;
    state.chosen = true;
    history.replaceState(null, "", "#problem-" + (id + 1));
    state.renderTable();
    showDetail();
    if (!move) return;
    document.getElementById("problem-title").focus({ preventScroll: true });
    detail.scrollIntoView();
  }
  const kernels = data.problems.length > 0;  // a database may hold other results alone
  const families = data.families.length === 0 ? [] : [data.families.length === 1 ? "1 family" : data.families.length + " families"];
  const held = [["problem", data.problems], ...roomSections.map((room) => [room.noun, data[room.id]])].filter(([, results]) => results.length > 0).map(([noun, results]) => plural(results.length, noun)).concat(families);
  document.getElementById("made").textContent = `${data.database}, ${held.join(" and ")}; made ${data.made_at.replace("T", " ").replace("Z", " UTC")} by pgtune ${data.pgtune}`;
  const main = document.getElementById("main");
  const chosen = fromHash();
  if (chosen >= 0) Object.assign(state, { problem: chosen, chosen: true });
  const ofKernels = kernels ? [["overview", "Overview", overviewSection(data, lead)], ["problems", "Problems", problemsSection(data, state, drawCharts, open)],
    ["charts", "Charts", el("section", { id: "charts" }, el("h2", {}, "Charts"), el("p", { class: "note" }, "Of the problems that pass the filter above. A click on a point, or Enter on one reached by the arrow keys, shows its problem below."), charts)],
    ["comparison", "Comparison", comparisonSection(data, open)], ["boards", "Boards", boardsSection(data)]] : [];
  const sections = [...ofKernels, ["families", "Families", familiesSection(data)], ...roomSections.map((room) => [room.id, room.title, data[room.id].length > 0 ? room.section(data) : null]), ...(kernels ? [["problem", "Problem", detail]] : [])].filter(([, , node]) => node !== null);
  main.replaceChildren(...sections.map(([, , node]) => node));
  document.getElementById("sections").replaceChildren(...sections.map(([id, title]) => el("a", { href: "#" + id }, title)));
  document.querySelector(".skip").setAttribute("href", "#" + sections[kernels ? 1 : 0][0]);
  if (kernels) {
    drawCharts();
    showDetail();
  } else {
    redrawCharts();
  }
  if (chosen >= 0) detail.scrollIntoView();
  let waiting = 0;
  new ResizeObserver(() => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(redrawCharts); }).observe(main);
  window.addEventListener("hashchange", () => { const id = fromHash(); if (id >= 0 && id !== state.problem) open(id); });
  document.documentElement.setAttribute("data-ready", "true");
}

start();
