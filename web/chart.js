// Two falling lines on a logarithmic scale, with a cursor that follows pointer and arrow keys.

const MARGIN = { top: 10, right: 12, bottom: 24, left: 52 };

/** Puts a chart into `svg`; `tell` is given the words at the cursor. */
export function chart(svg, tell) {
  let points = [], epochs = 1, at = null;

  const draw = () => {
    const { width, height } = svg.getBoundingClientRect();
    const losses = points.flatMap(({ trainLoss, valLoss }) => [trainLoss, valLoss]).filter((loss) => loss > 0);
    const [low, high] = losses.length ? decades(Math.min(...losses), Math.max(...losses)) : [-2, 0];
    const last = Math.max(epochs - 1, 1);
    const x = (epoch) => MARGIN.left + (width - MARGIN.left - MARGIN.right) * epoch / last;
    const y = (loss) => MARGIN.top + (height - MARGIN.top - MARGIN.bottom) * (high - Math.log10(Math.max(loss, 1e-30))) / (high - low);
    const parts = [];
    for (const power of steps(low, high)) {
      parts.push(`<line class="grid" x1="${MARGIN.left}" x2="${width - MARGIN.right}" y1="${y(10 ** power)}" y2="${y(10 ** power)}"/>`);
      parts.push(`<text x="${MARGIN.left - 8}" y="${y(10 ** power) + 4}" text-anchor="end">${label(10 ** power)}</text>`);
    }
    for (const epoch of marks(last)) parts.push(`<text x="${x(epoch)}" y="${height - 6}" text-anchor="middle">${epoch + 1}</text>`);
    for (const [name, key] of [["train", "trainLoss"], ["val", "valLoss"]]) {
      const line = points.filter((point) => point[key] > 0).map((point) => `${x(point.epoch)},${y(point[key])}`);
      if (line.length) parts.push(`<polyline class="line ${name}" points="${line.length > 1 ? line.join(" ") : `${line} ${line}`}"/>`);
    }
    const best = points.filter(({ isBest }) => isBest).at(-1);
    if (best) parts.push(`<circle class="dot" cx="${x(best.epoch)}" cy="${y(best.valLoss ?? best.trainLoss)}" r="5"/>`);
    if (at !== null && points[at]) parts.push(`<line class="at" x1="${x(at)}" x2="${x(at)}" y1="${MARGIN.top}" y2="${height - MARGIN.bottom}"/>`);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.innerHTML = parts.join("");
    const end = points.at(-1);
    svg.setAttribute("aria-label", end ? `Loss over ${points.length} epochs. ${words(end)}` : "No losses yet");
    tell(at !== null && points[at] ? words(points[at]) : "");
  };

  const move = (to) => { at = points.length ? Math.min(Math.max(to, 0), points.length - 1) : null; draw(); };
  svg.addEventListener("pointermove", (event) => {
    const { left, width } = svg.getBoundingClientRect();
    move(Math.round((event.clientX - left - MARGIN.left) / (width - MARGIN.left - MARGIN.right) * Math.max(epochs - 1, 1)));
  });
  svg.addEventListener("pointerleave", () => { at = null; draw(); });
  svg.addEventListener("blur", () => { at = null; draw(); });
  svg.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: (at ?? points.length) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: points.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(to);
  });
  new ResizeObserver(draw).observe(svg);

  return {
    start(count) { points = []; epochs = count; at = null; draw(); },
    add(point) { points.push(point); draw(); },
    end() { epochs = points.length; draw(); },
  };
}

const words = ({ epoch, trainLoss, valLoss }) =>
  `epoch ${epoch + 1}: training ${short(trainLoss)}${valLoss === null ? "" : `, validation ${short(valLoss)}`}`;

export const short = (value) => Number(value.toPrecision(4)).toString();

/** Powers of ten around the losses, half a decade at least. */
function decades(low, high) {
  const [from, to] = [Math.log10(low), Math.log10(high)];
  return [Math.floor(2 * from) / 2, Math.max(Math.ceil(2 * to) / 2, Math.floor(2 * from) / 2 + 0.5)];
}

function steps(low, high) {
  const step = high - low > 2.5 ? 1 : 0.5, all = [];
  for (let power = Math.ceil(low / step) * step; power <= high + 1e-9; power += step) all.push(power);
  return all;
}

function label(value) {
  return value >= 1e-3 && value < 1e4 ? Number(value.toPrecision(2)).toString() : value.toExponential(0);
}

/** Whole epochs to write under the axis. */
function marks(last) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((size) => last / size <= 8) ?? Math.ceil(last / 8);
  const round = Array.from({ length: Math.floor((last + 1) / step) }, (_, i) => (i + 1) * step - 1);
  return step > 1 ? [0, ...round] : round;
}
