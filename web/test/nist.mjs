// Fits the problems of a file, JSON of [{ data, model, options }, …], and writes their reports, or the messages of
// errors, as JSON. usage: node nist.mjs cpu|webgpu PROBLEMS REPORTS    cpu: in Node; webgpu: in Chromium
import { readFileSync, writeFileSync } from "node:fs";
import { fit } from "../dist/fit.js";
import { visit } from "./browser.mjs";

const [device, source, out] = process.argv.slice(2);
const problems = JSON.parse(readFileSync(source, "utf8"));

const here = async () => {
  const reports = [];
  for (const { data, model, options } of problems)
    reports.push(
      await fit(data, model, options).then(
        (solved) => solved.toJSON(),
        ({ message }) => ({ message }),
      ),
    );
  return reports;
};

const inChromium = async () => {
  const { page, close } = await visit("/test/blank.html");
  const reports = await page.evaluate(async (problems) => {
    const { fit } = await import("/dist/fit.js");
    const reports = [];
    for (const { data, model, options } of problems) {
      reports.push(
        await fit(data, model, { ...options, device: "webgpu" }).then(
          (solved) => solved.toJSON(),
          ({ message }) => ({ message }),
        ),
      );
    }
    return reports;
  }, problems);
  await close();
  return reports;
};

writeFileSync(out, JSON.stringify(await (device === "webgpu" ? inChromium() : here())));
