//! A curve fit whose search runs on WebGPU. The other functions of curve fitting are those of the part `fit`.
#![cfg(target_arch = "wasm32")]

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use meromorph::device::{Device, Request};
use meromorph::error::Result;
use meromorph::fit::{Journal, approach, solve_from};
use meromorph::internal::host;
use meromorph_web_fit::{Columns, FitRequest};
use meromorph_web_values::{Answer, thrown};

/// A GPU that searches.
#[wasm_bindgen]
pub struct Searcher {
    device: Device,
}

#[wasm_bindgen]
impl Searcher {
    /// Opens the adapter that the browser offers.
    pub async fn open() -> Answer<Searcher> {
        let request = Request { device: "webgpu".into(), ..Request::default() };
        Ok(Searcher { device: Device::open(&request).await.map_err(thrown)? })
    }

    /// Does what `fit` does, and searches on the GPU in single precision if the data allow it.
    pub async fn fit(&self, data: JsValue, model: String, options: JsValue) -> Answer<String> {
        self.fitted(&data, &model, &options).await.map_err(thrown)
    }
}

impl Searcher {
    async fn fitted(&self, data: &JsValue, model: &str, options: &JsValue) -> Result<String> {
        let started = host::now_ms();
        let request = FitRequest::read(&Columns::of(data), model, options, None)?;
        let problem = request.problem()?;
        let options = request.solve_options();
        let mut journal = Journal::default();
        approach(&problem, options, &self.device, &mut journal).await?;
        let fit = solve_from(&problem, options, &mut journal, &mut |_| Ok(()))?;
        request.report(&problem, fit, started)
    }
}
