// Writes CSV. A cell with a separator, a quote or a line end is quoted, and its quotes are doubled.

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Writes records as the lines of a file. */
export const csv = (records: string[][]): string => records.map((cells) => `${cells.map(cell).join(",")}\n`).join("");
