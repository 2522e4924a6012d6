// usage: node bench/run.mjs [n] [epochs] [webgpu|cpu]: rows like those of the peers' run.mjs, one JSON object per line.
import { visit } from "../test/browser.mjs";

const [n = "2560", epochs = "3", only] = process.argv.slice(2);
for (const device of ["webgpu", "cpu"].filter((device) => !only || device === only)) {
  const { page, close } = await visit("/bench/");
  await page.waitForFunction("window.ready");
  const row = await page.evaluate(([device, n, epochs]) => bench(device, n, epochs), [device, Number(n), Number(epochs)]);
  console.log(JSON.stringify(row));
  await close();
}
