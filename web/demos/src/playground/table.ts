// Tables as text: read as far as the page draws them, written for the engine. RFC 4180, with the separator that the head has most of.

export interface Table {
  names: string[];
  rows: string[][];
}

/** Cells of a text; quotes may hold separators, line ends and doubled quotes. */
export function parse(text: string): Table {
  const head = text.slice(0, text.search(/\r?\n|$/));
  const separator = ["\t", ";", ","].reduce((best, one) => (head.split(one).length > head.split(best).length ? one : best), ",");
  const rows: string[][] = [];
  let row: string[] = [], cell = "", isQuoted = false;
  const endRow = () => {
    row.push(cell);
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
    cell = "";
  };
  for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; at++) {
    const letter = text[at]!;
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') { cell += '"'; at++; }
      else isQuoted = false;
    } else if (letter === '"') isQuoted = true;
    else if (letter === separator) { row.push(cell); cell = ""; }
    else if (letter === "\n") endRow();
    else if (letter !== "\r") cell += letter;
  }
  endRow();
  const [names = [], ...body] = rows;
  return { names: names.map((name) => name.trim()), rows: body };
}

const quoted = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A text with commas. */
export function csv({ names, rows }: Table): string {
  return `${[names, ...rows].map((cells) => cells.map(quoted).join(",")).join("\n")}\n`;
}

/** At most so many rows without empty cells, evenly spread over the table. */
export function sample({ names, rows }: Table, count: number): Table {
  const whole = rows.filter((cells) => cells.length === names.length && cells.every((cell) => cell.trim() !== ""));
  const step = Math.max(1, whole.length / count);
  return { names, rows: Array.from({ length: Math.min(count, whole.length) }, (_, at) => whole[Math.floor(at * step)]!) };
}
