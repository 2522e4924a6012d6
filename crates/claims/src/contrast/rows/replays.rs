//! Windows that are recorded once and replayed, against those whose ops run one by one.

use super::super::composed::ALL;
use super::super::window::{Phases, Setting, Size, Window};
use super::{KERNEL, NONE, Replay, Row, Rows, SIZES, Timed};
use meromorph::internal::host::now_ms;
use meromorph::{Device, Result};

/// Windows that are timed together on the dry device.
const TIMES: usize = 5;

impl Rows<'_> {
    /// A window whose ops run one by one.
    fn eager(&self, size: Size, phases: Phases) -> Result<Window> {
        let window = Window::new(self.device, Setting::new(size, phases))?;
        window.is_eager.set(true);
        Ok(window)
    }

    /// A window whose ops run one by one against one that is replayed.
    fn replay_gain(&self, eager: &Window, replay: &Replay) -> Result<Timed> {
        self.ratio(
            || {
                eager.record()?;
                eager.wait().map(drop)
            },
            || {
                replay.plan.run(1)?;
                replay.window.wait().map(drop)
            },
        )
    }

    pub(super) fn replay(&self) -> Result<Vec<Row>> {
        const TOGETHER: usize = 16;
        let forms = [(NONE, "composed"), (Phases::Composed(ALL), "composed, all savings"), (KERNEL, "one launch")];
        let mut rows = Vec::new();
        for (phases, name) in forms {
            let eager = self.eager(self.size, phases)?;
            let replay = self.replayed(self.setting(phases))?;
            let ratio = self.replay_gain(&eager, &replay)?;
            rows.push(Row {
                claim: "graphs: 15-25 %",
                forms: [format!("{name}: op by op"), format!("{name}: replayed")],
                timed: Some(ratio),
                note: format!("{} launches", replay.launches()),
            });
        }
        let replay = self.replayed(self.setting(KERNEL))?;
        let ratio = self.ratio(
            || {
                for _ in 0..TOGETHER {
                    replay.plan.run(1)?;
                    replay.window.wait()?;
                }
                Ok(())
            },
            || {
                replay.plan.run(TOGETHER)?;
                replay.window.wait().map(drop)
            },
        )?;
        rows.push(Row {
            claim: "graphs: 15-25 %",
            forms: ["replayed, waited for each".into(), format!("replayed, {TOGETHER} windows together")],
            timed: Some(ratio),
            note: String::new(),
        });
        Ok(rows)
    }

    /// Time until a window is submitted, not until it is done. The CPU device runs launches as they are submitted: there only what is recorded and planned
    /// is measured, on the device that runs nothing.
    pub(super) fn host_time(&self) -> Result<Vec<Row>> {
        let claim = "100 times less host time per launch";
        if self.device.info().device == "cpu" {
            let dry = Device::dry();
            let eager = Rows { device: &dry, ..*self }.eager(self.size, NONE)?;
            eager.record()?;
            let started = now_ms();
            (0..TIMES).try_for_each(|_| eager.record())?;
            let each = (now_ms() - started) / TIMES as f64;
            return Ok(vec![Row {
                claim,
                forms: [format!("op by op: {each:.1} ms to record and plan a window"), "replayed: none of it".into()],
                timed: None,
                note: "on the dry device; submitting is not told apart from running on the CPU".into(),
            }]);
        }
        let eager = self.eager(self.size, NONE)?;
        let mut rows = Vec::new();
        for (phases, name) in [(NONE, "replayed"), (KERNEL, "replayed, one launch for the phases")] {
            let replay = self.replayed(self.setting(phases))?;
            let timed = Some(self.ratio(|| eager.record(), || replay.plan.run(1))?);
            replay.window.wait()?;
            rows.push(Row {
                claim,
                forms: ["op by op, not waited for".into(), name.into()],
                timed,
                note: format!("{} launches", replay.launches()),
            });
        }
        Ok(rows)
    }

    pub(super) fn batch_sizes(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for count in [1, 2, 4, 8, 16, 32, 64, 128] {
            let size = Size { rows: count, ..self.size };
            let eager = self.eager(size, KERNEL)?;
            let replay = self.replayed(Setting::new(size, KERNEL))?;
            let ratio = self.replay_gain(&eager, &replay)?;
            rows.push(Row {
                claim: "helps only from 16 rows on",
                forms: [format!("{count} rows: op by op"), format!("{count} rows: replayed")],
                timed: Some(ratio),
                note: String::new(),
            });
        }
        Ok(rows)
    }

    pub(super) fn everything(&self) -> Result<Vec<Row>> {
        let eager = Window::new(self.device, Setting { is_step_on_host: true, ..self.setting(NONE) })?;
        eager.is_eager.set(true);
        let replay = self.replayed(self.setting(KERNEL))?;
        let ratio = self.ratio(
            || {
                eager.record()?;
                eager.step_on_host()?;
                (0..3).try_for_each(|_| eager.gradient().map(drop))
            },
            || {
                replay.plan.run(1)?;
                replay.window.gradient().map(drop)
            },
        )?;
        Ok(vec![Row {
            claim: "total potential: 25-35 %",
            forms: ["composed, op by op, update on the host, 3 reads".into(), "one launch, replayed, 1 read".into()],
            timed: Some(ratio),
            note: format!("apart by {:.1e} after the same windows", self.apart()?),
        }])
    }

    /// The largest difference of the parameters of both forms after the same windows, relative above 1.
    fn apart(&self) -> Result<f32> {
        let windows = if self.size == SIZES[2] { 2 } else { 20 };
        let [a, b] = [Phases::Composed(ALL), KERNEL].map(|phases| -> Result<Vec<f32>> {
            let replay = self.replayed(self.setting(phases))?;
            replay.plan.run(windows)?;
            replay.window.wait()
        });
        Ok(a?.iter().zip(&b?).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f32::max))
    }
}
