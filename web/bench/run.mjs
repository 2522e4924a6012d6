// usage: node bench/run.mjs [n] [epochs] [webgpu|cpu] [batch] [rows to predict] [threads]: prints one JSON object per line, in the format of the other libraries' run.mjs.
import { visit } from "../test/browser.mjs";

const [n = "2560", epochs = "3", only, batch = "256", rows = "0", threads = "1"] = process.argv.slice(2);
for (const device of ["webgpu", "cpu"].filter((device) => !only || device === only)) {
  const { page, close } = await visit("/bench/");
  await page.waitForFunction("window.ready");
  const row = await page.evaluate((args) => bench(...args), [device, Number(n), Number(epochs), Number(batch), Number(threads)]);
  console.log(JSON.stringify(row));
  if (Number(rows)) console.log(JSON.stringify(await page.evaluate((args) => infer(...args), [device, Number(rows), Number(threads)])));
  await close();
}
