// From values to pixels, with the ticks between.

/** The nicest steps for about `count` ticks from `low` to `high`. */
function linearTicks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((s) => s * power >= raw * 0.999) * power;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(low, high, count) {
  const decades = Math.log10(high / low);
  const within = (ticks) => ticks.filter((t) => t >= low * 0.9999 && t <= high * 1.0001);
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const every = (steps) => {
    const ticks = [];
    for (let e = first; e <= last; e++) for (const s of steps) ticks.push(Number((s * 10 ** e).toPrecision(6)));
    return within(ticks);
  };
  if (decades < 0.7) return linearTicks(low, high, count);
  if (decades < 2.2) return every([1, 2, 5]);
  const stride = Math.max(1, Math.ceil(decades / Math.max(count, 2)));
  return every([1]).filter((t) => Math.round(Math.log10(t)) % stride === 0);
}

/** `values` are what must be seen; `from` and `to` are pixels. */
function makeScale(values, { log = false, include = [], from, to, pad = 0.05, ticks = 6 }) {
  const all = values.concat(include).filter((v) => v !== null && Number.isFinite(v) && (!log || v > 0));
  let low = Math.min(...all), high = Math.max(...all);
  if (all.length === 0) [low, high] = [1, 10];
  if (low === high) [low, high] = log ? [low / 1.5, high * 1.5] : low === 0 ? [-1, 1] : [low - Math.abs(low) * 0.05, high + Math.abs(high) * 0.05];
  const move = log ? Math.log : (v) => v, back = log ? Math.exp : (v) => v;
  const margin = (move(high) - move(low)) * pad;
  const begin = move(low) - margin, end = move(high) + margin;
  const scale = (v) => from + (move(v) - begin) / (end - begin) * (to - from);
  scale.low = back(begin);
  scale.high = back(end);
  scale.ticks = log ? logTicks(scale.low, scale.high, ticks) : linearTicks(scale.low, scale.high, ticks);
  return scale;
}
