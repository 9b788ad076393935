// What all results together say.

const kVerdicts = [{ name: "faster", colour: "good", shape: 0 }, { name: "faster through power", colour: "good", shape: 0, hollow: true }, { name: "tie", colour: "even", shape: 1 },
  { name: "unclear", colour: "odd", shape: 3 }, { name: "slower", colour: "bad", shape: 4 }, { name: "none", colour: "odd", shape: 3, hollow: true }];
const verdictClass = (verdict) => (kVerdicts.find(({ name }) => name === verdict) || { colour: "odd" }).colour;

/** "36 faster, 4 slower", coloured. */
const verdictCounts = (verdicts) => kVerdicts.filter(({ name }) => verdicts[name]).map(({ name, colour }, i) => [i > 0 ? ", " : "", el("span", { class: colour }, verdicts[name] + " " + (name === "tie" && verdicts[name] > 1 ? "ties" : name))]);

const counted = (values) => values.reduce((counts, value) => ({ ...counts, [value]: (counts[value] || 0) + 1 }), {});
const geometricMean = (values) => Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);
function median(values) {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Of the problems of one group with one baseline. */
function headline(problems) {
  const ratios = problems.map((p) => p.ratio).filter((ratio) => ratio !== null);
  return el("p", { class: "headline" }, plural(problems.length, "problem") + ": ", verdictCounts(counted(problems.map((p) => p.verdict))),
    ratios.length === 0 ? "." : [". ", el("b", {}, asRatio(geometricMean(ratios)) + "×"), ` the speed of ${problems[0].baseline}’s best`,
      ratios.length === 1 ? "." : ` (geometric mean; median ${asRatio(median(ratios))}, ${asRatio(Math.min(...ratios))} to ${asRatio(Math.max(...ratios))}).`]);
}

function overviewSection(data, chart) {
  const columns = [{ name: "kind" }, { name: "problems", number: true }, { name: "beside" }, { name: "× best", number: true }, { name: "range", number: true },
    { name: "× first", number: true }, { name: "verdicts" }];
  const measured = (problems) => {
    const days = problems.map((p) => p.finished.slice(0, 10)).sort();
    return days[0] === days[days.length - 1] ? days[0] : `${days[0]} to ${days[days.length - 1]}`;
  };
  return el("section", { id: "overview" }, el("h2", {}, "Overview"), data.groups.map((group, i) => {
    const problems = data.problems.filter((p) => p.group === i);
    return [[...new Set(problems.map((p) => p.baseline))].map((baseline) => headline(problems.filter((p) => p.baseline === baseline))),
      el("p", { class: "note" }, `${group.headline}; measured ${measured(problems)}`),
      group.kinds.length < 2 ? null : simpleTable("Speed by kind: " + group.headline, columns, group.kinds.map((row) => [
        row.kind, row.problems, row.baseline, asRatio(row.percent_of_best / 100), asInterval(row.least_percent / 100, row.most_percent / 100),
        asRatio(row.percent_of_first / 100), verdictCounts(row.verdicts)]))];
  }), chart,
    el("details", {}, el("summary", {}, "What these words mean"),
      el("p", {}, "Ratios are the winner’s speed over that of the baseline’s fastest algorithm (× best) or its own first choice (× first), each formed inside rounds in which both took turns. Faster and slower need a 95 % interval that leaves out 1 " +
        "and does not lie within the margin of ties. “Faster through power” is faster in time but not in clock cycles.")),
    data.problems.some((p) => p.marks.includes("*")) ? el("p", { class: "note" }, "* recorded on another machine") : null);
}
