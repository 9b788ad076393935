// What all results together say.

const kVerdicts = [["faster", "faster"], ["faster through power", "power"], ["tie", "tie"], ["unclear", "unclear"], ["slower", "slower"], ["none", "none"]];
const verdictClass = (verdict) => (kVerdicts.find(([name]) => name === verdict) || ["", "none"])[1];

function verdictBar(verdicts) {
  const total = Object.values(verdicts).reduce((sum, n) => sum + n, 0);
  return el("div", { class: "stack", "aria-hidden": "true" }, kVerdicts.filter(([name]) => verdicts[name]).map(([name, kind]) => {
    const part = el("span", { class: "fill-" + kind });
    part.style.width = (100 * verdicts[name]) / total + "%";
    return part;
  }));
}

const verdictCounts = (verdicts) => kVerdicts.filter(([name]) => verdicts[name]).map(([name]) => verdicts[name] + " " + name).join(", ");

function overviewSection(data) {
  const columns = [{ name: "kind" }, { name: "problems", number: true }, { name: "beside" }, { name: "× best", number: true }, { name: "range", number: true },
    { name: "× first", number: true }, { name: "verdicts" }, { name: "" }];
  return el("section", { id: "overview" }, el("h2", {}, "Overview"), data.groups.map((group) => [
    el("p", {}, group.headline),
    simpleTable("Speed by kind: " + group.headline, columns, group.kinds.map((row) => [
      row.kind, row.problems, row.baseline, asRatio(row.percent_of_best / 100), asInterval(row.least_percent / 100, row.most_percent / 100),
      asRatio(row.percent_of_first / 100), verdictCounts(row.verdicts), verdictBar(row.verdicts)]))]),
    el("p", { class: "note" }, "× best, × first: the winner’s speed over that of the baseline’s fastest algorithm, and over its own first choice, as geometric means over the problems; " +
      "each ratio was formed inside rounds in which both took turns. Faster and slower are said only where the 95 % interval leaves out 1 and does not lie within the margin of ties; " +
      "“faster through power” is faster in time but not in clock cycles."), marksLegend(data));
}

const kMarks = { "*": "recorded on another machine" };

function marksLegend(data) {
  const used = Object.keys(kMarks).filter((mark) => data.problems.some((p) => p.marks.includes(mark)));
  return used.length ? factList(used.map((mark) => [mark, kMarks[mark]])) : null;
}
