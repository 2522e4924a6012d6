// The CSV output of an exported page, cell by cell.
import assert from "node:assert/strict";
import { build } from "esbuild";
import { test, web } from "./browser.mjs";

test("an exported page quotes CSV cells where needed and doubles their quotes", async () => {
  const {
    outputFiles: [{ text }],
  } = await build({ entryPoints: [`${web}/portable/page/csv.ts`], bundle: true, write: false, format: "esm" });
  const { csv } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  const cases = [
    ["plain", "plain"],
    ["", ""],
    ["a b", "a b"],
    ["a,b", '"a,b"'],
    ["a\nb", '"a\nb"'],
    ["a\rb", '"a\rb"'],
    ["\r", '"\r"'],
    ['say "hi"', '"say ""hi"""'],
    ['"', '""""'],
    ['",\r\n', '""",\r\n"'],
  ];
  for (const [cell, expected] of cases) assert.equal(csv([[cell]]), `${expected}\n`, JSON.stringify(cell));
  assert.equal(
    csv([
      ["prediction", "probability"],
      ['5" wide', "0.5"],
      ["a,b", "1"],
    ]),
    'prediction,probability\n"5"" wide",0.5\n"a,b",1\n',
  );
  assert.equal(csv([]), "");
});
