// The facts about the machine, and the figures as text: Markdown or tab-separated values.
import { version } from "../../../package.json";
import type { DeviceInfo } from "../engine.js";
import { short } from "../numbers.js";
import { type Figure, MEASUREMENTS, THREADS } from "./measure.js";

export interface Column {
  device: string;
  info?: DeviceInfo;
  /** Why there are no figures. */
  absent?: string;
  figures: Map<string, Figure>;
}

interface Brand {
  brand: string;
  version: string;
}

/** The name and version that the browser reports. */
export function browser(): string {
  const { userAgentData } = navigator as Navigator & { userAgentData?: { brands: Brand[] } };
  const brands = userAgentData?.brands ?? [];
  const known = brands.filter(({ brand }) => !/not.?a.?brand/i.test(brand)).at(-1);
  if (known) return `${known.brand} ${known.version}`;
  const named = navigator.userAgent.match(/(Firefox|Version|Chrome)\/[\d.]+/)?.[0];
  return named?.replace("Version", "Safari").replace("/", " ") ?? "an unknown browser";
}

export const facts = (): [string, string][] => [
  ["Engine", `meromorph ${version}`],
  ["Browser", browser()],
  ["Processor", `${navigator.hardwareConcurrency} threads, ${THREADS} used`],
  ["Date", new Date().toISOString().slice(0, 10)],
];

export function cell({ figures, absent }: Column, name: string): string {
  const figure = figures.get(name);
  if (!figure) return absent ? "not available" : "–";
  return `${short(figure.value, 3)} ${figure.unit}`;
}

export const speed = ({ figures }: Column, name: string): string => {
  const flops = figures.get(name)?.gigaflops;
  return flops === undefined ? "" : `${short(flops, 2)} GFLOP/s`;
};

const title = ({ device, info }: Column) =>
  info ? `${info.device}: ${info.name}${info.isSoftware ? " (software)" : ""}` : device;

/** Rows of cells: a head, then a row per measurement. */
function grid(columns: Column[]): string[][] {
  const row = (name: string) => [
    name,
    ...columns.map((column) => [cell(column, name), speed(column, name)].filter(Boolean).join(", ")),
  ];
  return [["5-64-64-64-1", ...columns.map(title)], ...MEASUREMENTS.map(row)];
}

const about = () =>
  facts()
    .map(([name, value]) => `${name}: ${value}`)
    .join("; ");

export function markdown(columns: Column[]): string {
  const [head, ...rows] = grid(columns).map(
    (cells) => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`,
  );
  return [head, `|${" --- |".repeat(columns.length + 1)}`, ...rows, "", about(), ""].join("\n");
}

export const tabbed = (columns: Column[]): string =>
  [...grid(columns).map((cells) => cells.join("\t")), about(), ""].join("\n");
