// Records as CSV: a cell that a reader would cut stands in quotes, with the quotes in it doubled.

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Records of cells as the lines of a file. */
export const csv = (records: string[][]): string => records.map((cells) => `${cells.map(cell).join(",")}\n`).join("");
