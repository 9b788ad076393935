// Numbers as people read them. Values the page has none of are null and shown as a dash.

/** `digits` significant digits, never in exponents between 1e-4 and 1e6. */
function significant(value, digits) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 8));
}

function withUnit(value, units) {
  if (value === null) return "–";
  const found = units.find(([factor]) => Math.abs(value) >= factor * 0.9995) || units[units.length - 1];
  return significant(value / found[0], 4) + " " + found[1];
}

const asTime = (us) => withUnit(us, [[1e6, "s"], [1e3, "ms"], [1, "µs"], [1e-3, "ns"]]);
/** For an axis: without zeros at the end. */
const shortened = (text) => text.replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");
const asTimeTick = (us) => shortened(asTime(us));
const asEnergy = (mj) => withUnit(mj, [[1e3, "J"], [1, "mJ"], [1e-3, "µJ"]]);
const asEnergyTick = (mj) => shortened(asEnergy(mj));
const asRatio = (ratio) => (ratio === null ? "–" : ratio.toFixed(3));
const asPercent = (share) => (share === null ? "–" : (100 * share).toFixed(1) + " %");
const asBytes = (bytes) => withUnit(bytes, [[1048576, "MiB"], [1024, "KiB"], [1, "B"]]);
const asInterval = (low, high) => (low === null || high === null ? "–" : low.toFixed(3) + "–" + high.toFixed(3));
/** What the problems are compared with: its name where all have the same. */
const baselineOf = (problems) => (new Set(problems.map((p) => p.baseline)).size === 1 ? problems[0].baseline : "the baseline");
const plural = (count, word) => count + " " + word + (count === 1 ? "" : "s");

/** The shortest text of an axis's tick. */
function asTick(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  for (const [factor, letter] of [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    if (size >= factor) return String(Number((value / (factor === 1e4 ? 1e3 : factor)).toPrecision(3))) + letter;
  }
  return String(Number(value.toPrecision(4)));
}
