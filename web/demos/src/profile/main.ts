// Profile: measures training steps of a perceptron and shows where their time goes.
import type { LaunchGroup, LaunchProfile, ProfileOptions, StepProfile } from "../engine.js";
import { percent, short, whole } from "../numbers.js";
import { element, engine, figures, get, number, ready, shown } from "../page.js";
import { random } from "../random.js";

const INPUTS = 5;
const ROWS = 16_384;
/** Bars in a list, at most. */
const MOST_BARS = 8;

let abort: AbortController | undefined;
let profile: StepProfile | undefined;

/** A smooth function of five inputs. */
function rows(): { x: Float32Array; y: Float32Array } {
  const next = random(1);
  const x = Float32Array.from({ length: ROWS * INPUTS }, () => next.between(-1, 1));
  const y = Float32Array.from(
    { length: ROWS },
    (_, row) => Math.sin(3 * x[row * INPUTS]!) + x[row * INPUTS + 1]! * x[row * INPUTS + 4]!,
  );
  return { x, y };
}

function options(signal: AbortSignal): ProfileOptions {
  const hidden = get<HTMLInputElement>("hidden")
    .value.split(",")
    .map((width) => width.trim())
    .filter(Boolean)
    .map(Number);
  const step = get<HTMLSelectElement>("step").value as "" | "recorded";
  const windows = Number(get<HTMLSelectElement>("windows").value);
  return { hidden, batch: number("batch"), bins: 0, test: 0, validation: 0, windows, signal, ...(step && { step }) };
}

/** Measures and shows the result. A measurement that is still running ends first. */
async function measure(): Promise<void> {
  abort?.abort();
  const { signal } = (abort = new AbortController());
  delete document.documentElement.dataset.trained;
  const button = get<HTMLButtonElement>("measure");
  try {
    get("status").textContent = "Opening the engine …";
    const device = await engine();
    if (signal.aborted) return;
    button.disabled = true;
    get("status").textContent = "Measuring for a few seconds …";
    profile = await device.profile(rows(), options(signal));
    show(profile);
    get("status").textContent = `Measured ${whole(profile.steps)} steps in each window.`;
  } catch (error) {
    if (signal.aborted) return;
    get("status").textContent = "Not measured.";
    throw error;
  } finally {
    if (abort.signal === signal) {
      button.disabled = false;
      document.documentElement.dataset.trained = "";
    }
  }
}

/** Milliseconds for people. */
const time = (ms: number) => (ms >= 1 ? `${short(ms, 3)} ms` : `${short(1e3 * Math.max(ms, 0), 3)} µs`);

/** Bytes per second or operations per second, in 10⁹. */
const rate = (value: number) => short(value, value < 1000 ? 3 : 4);

function show(found: StepProfile): void {
  const { stepMs, plainMs, explained, flops, bytes, ceilings } = found;
  get("summary").textContent = sentence(found);
  bars(get("kernels"), found.byKernel);
  bars(get("layers"), found.byLayer);
  const copy = ceilings.copies.at(-1);
  figures(get("figures"), [
    ["Step", time(stepMs), `${found.step}, ${whole(found.batch)} rows; ${time(plainMs)} without measuring`],
    ["Rate", `${rate(flops / stepMs / 1e6)} GFLOP/s`, `${rate(bytes / stepMs / 1e6)} GB/s`],
    ["In launches", percent(explained), `${time(found.betweenMs)} of a step is between launches`],
    ["Device at best", `${rate(ceilings.gflops)} GFLOP/s`, `${rate(copy?.gbytesPerS ?? NaN)} GB/s in large copies`],
  ]);
  const launches = [...found.launches].sort((one, other) => other.ms - one.ms);
  get("launches").replaceChildren(...launches.map(row));
  get<HTMLButtonElement>("save").disabled = false;
}

function sentence({ byKernel, stepMs, parameters, launches }: StepProfile): string {
  const [first] = byKernel;
  const count = launches.length === 1 ? "one launch" : `${launches.length} launches`;
  return `The kernel ${first?.name} takes ${percent(first?.share ?? 0, 0).replace(" ", "\u00a0")} of a step: ${time(stepMs)} in ${count}, for ${whole(parameters)} parameters.`;
}

/** A bar for each group; the smallest together. */
function bars(list: HTMLElement, groups: LaunchGroup[]): void {
  const launched = groups.filter(({ launches }) => launches > 0);
  const between = groups.filter(({ launches }) => launches === 0);
  const shown = launched.length > MOST_BARS ? launched.slice(0, MOST_BARS - 1) : launched;
  const left = launched.slice(shown.length);
  const sum = (of: (group: LaunchGroup) => number) => left.reduce((total, group) => total + of(group), 0);
  if (left.length > 0)
    shown.push({
      ...left[0]!,
      name: `${left.length} others`,
      ms: sum(({ ms }) => ms),
      share: sum(({ share }) => share),
      launches: sum(({ launches }) => launches),
    });
  list.replaceChildren(...[...shown, ...between].map(bar));
}

function bar({ name, share, ms, launches }: LaunchGroup): HTMLElement {
  const item = element("li", "", launches > 0 ? "" : "rest");
  const [track, part] = [element("div", "", "track"), element("div", "", "part")];
  part.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
  track.append(part);
  const times = launches > 1 ? ` (${launches} ×)` : "";
  item.append(
    element("span", `${name}${times}`, "label"),
    element("span", `${percent(share)} · ${time(ms)}`, "value"),
    track,
  );
  return item;
}

function row({
  kernel,
  layer,
  op,
  direction,
  ms,
  share,
  gflops,
  flops,
  rooflineShare,
  bound,
}: LaunchProfile): HTMLElement {
  const line = element("tr");
  const name = Object.assign(element("th", kernel), { scope: "row" });
  const parts = [layer, op, direction].filter((part, at, all) => part && part !== "other" && all.indexOf(part) === at);
  name.append(element("small", parts.join(", ")));
  const seen = (text: string) => (ms > 0 ? text : "–");
  const cells = [
    seen(time(ms)),
    seen(percent(share)),
    flops > 0 ? seen(rate(gflops)) : "–",
    seen(percent(rooflineShare)),
    bound,
  ];
  line.append(name, ...cells.map((text) => element("td", text)));
  return line;
}

function save(): void {
  const href = URL.createObjectURL(new Blob([profile!.trace], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href, download: "trace.json" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

get("form").addEventListener("submit", (event) => {
  event.preventDefault();
  void shown(measure);
});
for (const id of ["device", "step"]) get(id).addEventListener("change", () => shown(measure));
get("save").addEventListener("click", save);
ready();
await shown(measure);
