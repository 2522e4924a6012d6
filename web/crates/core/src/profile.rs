//! Where the time of training steps goes, for JavaScript: a run is set up as `train` does, on a device that can measure launches.

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::engine::{Engine, read};
use super::training::set_up;
use meromorph::Device;
use meromorph::device::{Cost, Request};
use meromorph::error::Result;
use meromorph::internal::json::Writer;
use meromorph::profile::{Ceilings, Grouping, LaunchProfile, OPTIONS, ProfileOptions, StepProfile, trace};
use meromorph::train::Trainer;
use meromorph_web_values::options::apply;
use meromorph_web_values::{Answer, strings, thrown};

#[wasm_bindgen]
impl Engine {
    /// Measures steps of the run that `train` would start. `sizes` has the options of a profile; `goes_on` is called after each window,
    /// and measuring ends with an error if it returns false. Resolves with two texts: the figures (JSON), and a trace.
    pub async fn profile(
        &self,
        data: JsValue,
        source: String,
        options: JsValue,
        reading: JsValue,
        sizes: JsValue,
        goes_on: Function,
    ) -> Answer {
        let measured = async {
            let mut measuring = ProfileOptions::default();
            apply(&OPTIONS, &mut measuring, &sizes, |_| None).map_err(|error| error.within("train"))?;
            let ProfileOptions { steps, windows } = measuring;
            let (table, options, _) = read(&data, &source, &options, &reading)?;
            let device = timed(&self.device).await?;
            let (_, mut trainer) = set_up(&device, &table, &options)?;
            let goes_on = || goes_on.call0(&JsValue::NULL).is_ok_and(|answer| answer.is_truthy());
            let profile = StepProfile::of_while(&mut trainer, steps, windows, &goes_on).await?;
            Ok(report(&trainer, &profile, &Ceilings::measure(&device).await?))
        };
        measured.await.map_err(thrown)
    }
}

/// A second device of the same kind that can measure launches. Others need not be able to, and keep what they are.
async fn timed(device: &Device) -> Result<Device> {
    let device = device.info().device.into();
    Device::open(&Request { device, threads: 1, timestamps: true, ..Request::default() }).await
}

/// The figures as JSON, and the trace.
fn report(trainer: &Trainer, profile: &StepProfile, ceilings: &Ceilings) -> JsValue {
    let (info, mut out) = (trainer.device().info(), Writer::default());
    let reached = profile.raised(ceilings);
    out.object("");
    out.text("device", info.device);
    out.text("name", &info.name);
    out.text("step", trainer.step_kind().name());
    out.number("batch", trainer.settings().batch as f64);
    out.number("parameters", trainer.parameter_count() as f64);
    out.number("steps", profile.steps as f64);
    out.number("stepMs", profile.step_ms);
    out.number("plainMs", profile.plain_ms);
    out.number("overhead", profile.overhead);
    out.number("explained", profile.explained());
    out.number("betweenMs", profile.between_ms);
    work(&mut out, profile.cost());
    out.list("launches");
    for one in &profile.launches {
        launch(&mut out, one, profile, &reached);
    }
    out.end(']');
    let groupings = [Grouping::Kernel, Grouping::Layer, Grouping::Op, Grouping::Direction];
    for (by, name) in groupings.into_iter().zip(["byKernel", "byLayer", "byOp", "byDirection"]) {
        out.list(name);
        for group in profile.grouped(by) {
            out.object("");
            out.text("name", &group.name);
            out.number("launches", group.launches as f64);
            time(&mut out, group.ms, profile);
            work(&mut out, group.cost);
            out.end('}');
        }
        out.end(']');
    }
    out.object("ceilings");
    out.number("gflops", reached.gflops);
    out.number("matmulSize", ceilings.matmul_size as f64);
    out.list("copies");
    for rate in &ceilings.copies {
        out.object("");
        out.number("bytes", rate.bytes as f64);
        out.number("gbytesPerS", rate.gbytes_s);
        out.end('}');
    }
    out.end(']');
    out.end('}');
    out.end('}');
    let trace = trace(profile, &format!("{} ({})", info.device, info.name));
    strings([out.finish().as_str(), trace.as_str()])
}

fn launch(out: &mut Writer, one: &LaunchProfile, profile: &StepProfile, ceilings: &Ceilings) {
    out.object("");
    let parts = [Grouping::Kernel, Grouping::Layer, Grouping::Op, Grouping::Direction];
    for (by, name) in parts.into_iter().zip(["kernel", "layer", "op", "direction"]) {
        out.text(name, by.name(&one.launch));
    }
    time(out, one.ms, profile);
    work(out, one.launch.cost);
    out.number("gflops", one.gflops());
    out.number("gbytesPerS", one.gbytes_s());
    out.number("rooflineShare", one.roofline_share(ceilings));
    out.text("bound", if one.is_arithmetic(ceilings) { "arithmetic" } else { "traffic" });
    out.end('}');
}

fn time(out: &mut Writer, ms: f64, profile: &StepProfile) {
    out.number("ms", ms);
    out.number("share", ms / profile.step_ms);
}

fn work(out: &mut Writer, cost: Cost) {
    out.number("flops", cost.flops as f64);
    out.number("bytes", cost.bytes as f64);
}
