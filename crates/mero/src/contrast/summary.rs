//! What is printed of a learned memory.

use std::path::Path;

use serde_json::{Value, json};

use meromorph::contrast::{Judged, Memory};
use meromorph::report::{count, counted, facts, figure};

/// What is printed of a memory.
pub(super) struct Summary<'s> {
    /// What it finds for rows that it does not hold, and what one without a map does.
    pub(super) judged: Option<[Judged; 2]>,
    out: &'s Path,
    seconds: f64,
    epochs: usize,
    /// Rows to learn from, and the others.
    rows: [usize; 2],
    classes: Vec<String>,
    columns: usize,
    coordinates: usize,
    reach: f64,
}

impl<'s> Summary<'s> {
    /// Of a memory and its file, with the rows to learn from and the others, epochs, and seconds.
    pub(super) fn of(memory: &Memory, out: &'s Path, (rows, epochs, seconds): ([usize; 2], usize, f64)) -> Self {
        Self {
            judged: None,
            out,
            seconds,
            epochs,
            rows,
            classes: memory.header.names.clone(),
            columns: memory.inputs(),
            coordinates: memory.outputs(),
            reach: memory.header.reach,
        }
    }

    pub(super) fn text(&self) -> String {
        let (inputs, outputs) = (counted(self.columns, "column"), self.coordinates);
        let kept = count(self.rows[0] as u64);
        let epochs = counted(self.epochs, "epoch");
        let mut lines = vec![
            (
                "learned",
                format!("{kept} rows of {} in {epochs}, {} s", classes_of(&self.classes), figure(self.seconds)),
            ),
            ("map", format!("{inputs} to {outputs} coordinates")),
        ];
        if let Some([learned, plain]) = &self.judged {
            let each =
                |value: &dyn Fn(&Judged) -> f64| format!("{:.3}   {:.3} without the map", value(learned), value(plain));
            lines.push(("judged", format!("{} that it has not seen", counted(learned.rows, "row"))));
            for (at, (k, _)) in learned.recall.iter().enumerate() {
                let name = ["recall@1", "recall@5", "recall@10"][usize::from(*k > 1) + usize::from(*k > 5)];
                lines.push((name, each(&|judged| judged.recall[at].1)));
            }
            lines.push(("accuracy", each(&|judged| judged.accuracy)));
            lines.push(("MAP@R", each(&|judged| judged.map_at_r)));
            lines.push(("within reach", format!("{:.3} of them", learned.known)));
        }
        lines.push((
            "memory",
            format!("{}, {} rows", self.out.display(), count(self.rows.iter().sum::<usize>() as u64)),
        ));
        facts(&lines)
    }

    pub(super) fn json(&self) -> Value {
        let judged = self.judged.as_ref().map(|[learned, plain]| json!({ "learned": of(learned), "plain": of(plain) }));
        json!({
            "event": "done", "memory": self.out, "rows": self.rows.iter().sum::<usize>(), "classes": self.classes, "inputs": self.columns,
            "outputs": self.coordinates, "reach": self.reach, "epochs": self.epochs, "seconds": self.seconds, "judged": judged,
        })
    }
}

fn classes_of(names: &[String]) -> String {
    let count = names.len();
    format!("{count} class{}", if count == 1 { "" } else { "es" })
}

fn of(judged: &Judged) -> Value {
    let recall: serde_json::Map<String, Value> =
        judged.recall.iter().map(|(k, share)| (k.to_string(), json!(share))).collect();
    json!({
        "rows": judged.rows, "recall": recall, "accuracy": judged.accuracy, "map_at_r": judged.map_at_r, "within_reach": judged.known,
    })
}
