//! What the host does in a window: reading figures, the update, memory.

use super::super::window::Setting;
use super::{KERNEL, Replay, Row, Rows, SIZES};
use meromorph::Result;

/// Windows between two reports.
const REPORT: usize = 8;
/// Windows after which memory is looked at again.
const LATER: usize = 10_000;

impl Rows<'_> {
    pub(super) fn reading(&self) -> Result<Vec<Row>> {
        let replay = self.replayed(self.setting(KERNEL))?;
        let read = |times: usize| -> Result<()> { (0..times).try_for_each(|_| replay.window.gradient().map(drop)) };
        let every = |windows: usize, reads: usize| -> Result<()> {
            for _ in 0..REPORT / windows {
                replay.plan.run(windows)?;
                read(reads)?;
            }
            Ok(())
        };
        let once = || every(REPORT, 1);
        let row = |claim, slow: &str, ratio| Row {
            claim,
            forms: [slow.into(), format!("1 read every {REPORT} windows")],
            timed: Some(ratio),
            note: String::new(),
        };
        Ok(vec![
            row("metrics batching: 3-5 %", "3 reads every 8 windows", self.ratio(|| every(REPORT, 3), once)?),
            row("metrics batching: 3-5 %", "1 read per window", self.ratio(|| every(1, 1), once)?),
            row("metrics batching: 3-5 %", "3 reads per window", self.ratio(|| every(1, 3), once)?),
        ])
    }

    pub(super) fn readbacks(&self) -> Result<Vec<Row>> {
        let replay = self.replayed(self.setting(KERNEL))?;
        let reads = || self.device.counters().readbacks;
        let before = reads();
        replay.plan.run(REPORT)?;
        replay.window.gradient()?;
        let fast = reads() - before;
        let before = reads();
        for _ in 0..REPORT {
            replay.plan.run(1)?;
            replay.window.step_on_host()?;
            replay.window.gradient()?;
        }
        let slow = reads() - before;
        let forms = [format!("{slow} readbacks in {REPORT} windows"), format!("{fast} readback in {REPORT} windows")];
        let (stable, later) = self.bytes_in_use(&replay)?;
        Ok(vec![
            Row { claim: "10-15 waits become 1", forms, timed: None, note: "counted, not timed".into() },
            Row {
                claim: "memory stays the same",
                forms: [format!("{} bytes after 10 windows", stable[0]), format!("{} bytes after {later}", stable[1])],
                timed: None,
                note: String::new(),
            },
        ])
    }

    /// Bytes in use after 10 windows and after many more, as many as there is patience for.
    fn bytes_in_use(&self, replay: &Replay) -> Result<([u64; 2], usize)> {
        let bytes = |windows: usize| -> Result<u64> {
            replay.plan.run(windows)?;
            replay.window.wait()?;
            Ok(self.device.counters().live_bytes)
        };
        let more = if self.size == SIZES[0] { LATER - 10 } else { 10 };
        Ok(([bytes(10)?, bytes(more)?], 10 + more))
    }

    pub(super) fn update(&self) -> Result<Vec<Row>> {
        let replay = self.replayed(self.setting(KERNEL))?;
        let (step, ()) = self.device.capture(|| replay.window.record_step())?;
        let on_device = || -> Result<()> {
            step.run(1)?;
            replay.window.wait().map(drop)
        };
        let on_host = || -> Result<()> {
            replay.window.step_on_host()?;
            replay.window.wait().map(drop)
        };
        let row = |what: &str, ratio| Row {
            claim: "rotor update: 2-3 % of the update",
            forms: [format!("{what}, in loops on the host"), format!("{what}, on the device")],
            timed: Some(ratio),
            note: String::new(),
        };
        let alone = row("update alone", self.ratio(on_host, on_device)?);
        let without = self.replayed(Setting { is_step_on_host: true, ..self.setting(KERNEL) })?;
        let whole = self.ratio(
            || {
                without.plan.run(1)?;
                without.window.step_on_host()?;
                without.window.wait().map(drop)
            },
            || {
                replay.plan.run(1)?;
                replay.window.wait().map(drop)
            },
        )?;
        Ok(vec![alone, row("whole window", whole)])
    }

    pub(super) fn cleanup(&self) -> Result<Vec<Row>> {
        const EVERY: usize = 10;
        let (mut freed, mut kept) = (self.replayed(self.setting(KERNEL))?, self.replayed(self.setting(KERNEL))?);
        // Both record the window again, so that only the memory differs.
        let once = |replay: &mut Replay, frees: bool| -> Result<()> {
            replay.plan = self.device.capture(|| replay.window.record())?.0;
            if frees {
                self.device.trim();
            }
            replay.plan.run(EVERY)?;
            replay.window.wait().map(drop)
        };
        let ratio = self.ratio(|| once(&mut freed, true), || once(&mut kept, false))?;
        Ok(vec![Row {
            claim: "adaptive cleanup: 1-2 %",
            forms: [format!("memory freed and allocated again every {EVERY} windows"), "kept".into()],
            timed: Some(ratio),
            note: String::new(),
        }])
    }
}
