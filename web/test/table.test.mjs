// The playground parses tables as the engine does, with any quotes, separators and line ends.
import assert from "node:assert/strict";
import { before } from "node:test";
import { build } from "esbuild";
import { describe } from "../dist/node.js";
import { test, web } from "./browser.mjs";

let table;

before(async () => {
  const {
    outputFiles: [{ text }],
  } = await build({ entryPoints: [`${web}/demos/src/playground/table.ts`], bundle: true, write: false, format: "esm" });
  table = await import(`data:text/javascript,${encodeURIComponent(text)}`);
});

/** A text, whether each column is numeric, and the rows that are drawn. */
const CASES = [
  [
    "a,b\n1,2\n3,red\n",
    { a: true, b: false },
    [
      ["1", "2"],
      ["3", "red"],
    ],
  ],
  ["\ufeffa;b\r\n1.5;2\r\n", { a: true, b: true }, [["1.5", "2"]]],
  ["a\tb\r1\t2\r", { a: true, b: true }, [["1", "2"]]],
  // A decimal comma is not a number: the cell is text.
  ["a;b\n1,5;2\n", { a: false, b: true }, [["1,5", "2"]]],
  [
    "0.5,1\n-2e3,.5\n",
    { c0: true, c1: true },
    [
      ["0.5", "1"],
      ["-2e3", ".5"],
    ],
  ],
  ["a,,b\n1,2,3\n", { a: true, c1: true, b: true }, [["1", "2", "3"]]],
  ["\n\na,b\n\n1,2\n\n", { a: true, b: true }, [["1", "2"]]],
  ['"a;b;c", "d"\n" 1 ",  "2" \n', { "a;b;c": true, d: true }, [["1", "2"]]],
  ['pipe,"say ""hi"""\na 5" pipe,"a,\nb"\n', { pipe: false, 'say "hi"': false }, [['a 5" pipe', "a,\nb"]]],
  ["a,b\nNA,x\n1,?\n2,Null\n3,n/a\n-nan,y\n4,z\n,w\n", { a: true, b: false }, [["4", "z"]]],
  [
    "a,b\n0x10,1_00\n1,2\n",
    { a: false, b: false },
    [
      ["0x10", "1_00"],
      ["1", "2"],
    ],
  ],
  [
    "a,b\n1,+Infinity\n2,-inf\n",
    { a: true, b: true },
    [
      ["1", "+Infinity"],
      ["2", "-inf"],
    ],
  ],
  ["a,b\n\u00a0x\u00a0,1\n", { a: false, b: true }, [["\u00a0x\u00a0", "1"]]],
];

test("a table is parsed as by the engine, and survives a round trip", async () => {
  for (const [text, kinds, rows] of CASES) {
    const description = await describe(text);
    const parsed = table.parse(text, description);
    assert.ok(parsed, `not drawn: ${text}`);
    const drawn = table.sample(parsed, 100);
    assert.deepEqual(Object.fromEntries(drawn.columns.map(({ name, isNumeric }) => [name, isNumeric])), kinds, text);
    assert.deepEqual(drawn.rows, rows, text);
    const again = await describe(table.csv(table.names(drawn), drawn.rows));
    assert.deepEqual([again.rows, again.columns.map(({ name }) => name)], [rows.length, Object.keys(kinds)], text);
  }
});

test("a .tsv file is split at tabs, and a text that does not match its description is not drawn", async () => {
  const text = "a,b\tc\n1,2\t3\n";
  const description = await describe(new File([text], "a.TSV"));
  assert.deepEqual(table.parse(text, description, "a.TSV").rows, [["1,2", "3"]]);
  assert.equal(table.parse("a,b\n1,2\n", { ...description, rows: 3 }), undefined);
  assert.equal(table.parse("a\n1\n", description), undefined);
});

test("only the target may be infinite; numeric classes are named as by the engine", async () => {
  const text = "x,y\n1,inf\n-INF,2\n3.0,2.0\n";
  const rows = table.predictable(table.parse(text, await describe(text)), "y");
  assert.deepEqual(rows.rows, [
    ["1", "inf"],
    ["3.0", "2.0"],
  ]);
  assert.deepEqual(
    [table.numbers(rows, "y"), table.labels(rows, "y")],
    [
      [Infinity, 2],
      ["Infinity", "2"],
    ],
  );
});
