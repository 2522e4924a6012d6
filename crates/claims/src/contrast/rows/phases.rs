//! The phases of a window: in one launch, composed of ops with more or fewer savings, over part of the memory, in halves.

use super::super::composed::{ALL, Saving};
use super::super::window::{Phases, Setting};
use super::{KERNEL, NONE, Row, Rows, moved};
use meromorph::Result;
use meromorph::contrast::Storage;

const HALVES: Phases = Phases::Kernel(Storage::Halves);

impl Rows<'_> {
    pub(super) fn savings(&self) -> Result<Vec<Row>> {
        let claims: [(&'static str, &'static [Saving], &str); 5] = [
            ("fused cost and distance: 2-3 %", &[Saving::SharedForm], "one quadratic form per step, not two"),
            ("softmax and mix: 1-2 %", &[Saving::OneSoftmax], "softmax in one launch, not four"),
            ("sums in place: < 1 %", &[Saving::SumsInPlace], "running sums in place, not copied back"),
            ("rotor caching: 2-3 %", &[Saving::RotatedKeys], "keys rotated once per window, not per step"),
            ("(ours)", &[Saving::Constants], "costs and free phase once per window, not per step"),
        ];
        let slow = self.replayed(self.setting(NONE))?;
        let each = claims.into_iter().map(|(claim, savings, what)| {
            let fast = self.replayed(self.setting(Phases::Composed(savings)))?;
            let ratio = self.ratio_of([&slow, &fast])?;
            Ok(Row {
                claim,
                forms: ["composed of ops".into(), what.into()],
                timed: Some(ratio),
                note: moved(&slow, &fast),
            })
        });
        each.collect()
    }

    pub(super) fn implemented(&self) -> Result<Vec<Row>> {
        let slow = self.replayed(Setting { is_step_on_host: true, ..self.setting(NONE) })?;
        let fast = self.replayed(self.setting(Phases::Composed(ALL)))?;
        let ratio = self.ratio(
            || {
                slow.plan.run(1)?;
                slow.window.step_on_host()?;
                (0..3).try_for_each(|_| slow.window.gradient().map(drop))
            },
            || {
                fast.plan.run(1)?;
                fast.window.gradient().map(drop)
            },
        )?;
        Ok(vec![Row {
            claim: "all that is implemented: 10-15 %",
            forms: ["composed, update on the host, 3 reads".into(), "composed, all savings, 1 read".into()],
            timed: Some(ratio),
            note: moved(&slow, &fast),
        }])
    }

    pub(super) fn rotated_keys(&self) -> Result<Vec<Row>> {
        let each = self.replayed(self.setting(KERNEL))?;
        let before = self.replayed(Setting { is_mapped_before: true, ..self.setting(KERNEL) })?;
        Ok(vec![Row {
            claim: "rotor caching: 2-3 %",
            forms: ["keys rotated in each window".into(), "rotated before, for angles that do not change".into()],
            timed: Some(self.ratio_of([&each, &before])?),
            note: String::new(),
        }])
    }

    pub(super) fn sparse(&self) -> Result<Vec<Row>> {
        let shares = [0.05, 0.25, 1.0].into_iter().map(|share| {
            let candidates = ((self.size.keys as f64 * share) as usize).max(1);
            let all = self.replayed(Setting { candidates, ..self.setting(KERNEL) })?;
            let filled = self.replayed(Setting { candidates, filled: candidates, ..self.setting(KERNEL) })?;
            Ok(Row {
                claim: "sparse memory: 1-2 %",
                forms: [format!("{share} filled: all slots"), format!("{share} filled: those that are filled")],
                timed: Some(self.ratio_of([&all, &filled])?),
                note: String::new(),
            })
        });
        shares.collect()
    }

    pub(super) fn fused(&self) -> Result<Vec<Row>> {
        let rows = [(NONE, 1, "fused retrieval: 5-10 %"), (Phases::Composed(ALL), 64, "(ours) one launch per window")];
        let rows = rows.into_iter().map(|(phases, steps, claim)| {
            let composed = self.replayed(Setting { steps, ..self.setting(phases) })?;
            let kernel = self.replayed(Setting { steps, ..self.setting(KERNEL) })?;
            let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
            Ok(Row {
                claim,
                forms: [format!("{steps}: composed"), format!("{steps}: in one launch")],
                timed: Some(self.ratio_of([&composed, &kernel])?),
                note: moved(&composed, &kernel),
            })
        });
        rows.collect()
    }

    /// To compare with other engines: a window as it is, waited for.
    pub(super) fn speed(&self) -> Result<Vec<Row>> {
        let [first, second] = [0, 1].map(|_| self.replayed(self.setting(KERNEL)));
        let forms = ["one launch, waited for".into(), "the same".into()];
        let timed = Some(self.ratio_of([&first?, &second?])?);
        Ok(vec![Row { claim: "(none: how much ratios vary)", forms, timed, note: String::new() }])
    }

    pub(super) fn halves(&self) -> Result<Vec<Row>> {
        let [floats, halves] = [KERNEL, HALVES].map(|phases| self.replayed(self.setting(phases)));
        let ratio = self.ratio_of([&floats?, &halves?])?;
        let mut errors = Vec::new();
        for nudge in [1e-1_f32, 1e-2, 1e-3, 1e-4] {
            let [a, b] = [KERNEL, HALVES].map(|phases| -> Result<Vec<f32>> {
                let replay = self.replayed(Setting { nudge, ..self.setting(phases) })?;
                replay.plan.run(1)?;
                replay.window.gradient()
            });
            let (a, b) = (a?, b?);
            let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|x| x * x).sum::<f32>().sqrt();
            let apart = norm(&mut a.iter().zip(&b).map(|(a, b)| a - b)) / norm(&mut a.iter().copied());
            errors.push(format!("{nudge:e}: {apart:.1e}"));
        }
        Ok(vec![Row {
            claim: "mixed precision: 20-30 %",
            forms: ["states in 32 bits".into(), "states in packed halves".into()],
            timed: Some(ratio),
            note: format!("gradients apart by, per nudge, {}", errors.join(", ")),
        }])
    }
}
