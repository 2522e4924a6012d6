// usage: node bench/run.mjs [n] [epochs] [webgpu|cpu] [batch] [rows to predict]: rows like those of the peers' run.mjs, one JSON object per line.
import { visit } from "../test/browser.mjs";

const [n = "2560", epochs = "3", only, batch = "256", rows] = process.argv.slice(2);
for (const device of ["webgpu", "cpu"].filter((device) => !only || device === only)) {
  const { page, close } = await visit("/bench/");
  await page.waitForFunction("window.ready");
  const row = await page.evaluate((args) => bench(...args), [device, Number(n), Number(epochs), Number(batch)]);
  console.log(JSON.stringify(row));
  if (rows) console.log(JSON.stringify(await page.evaluate((args) => infer(...args), [device, Number(rows)])));
  await close();
}
