//! Area under the ROC curve: the probability that a row of a class has a higher score for it than a row of another (Hanley and McNeil 1982), by ranks,
//! equal scores counting half. Mean over the classes, each against the rest; absent if no class has both.

use super::{Classes, Metric};
use crate::math::order::{ascending_numbers, key};

pub(super) const METRIC: Metric = Metric {
    label: "AUC",
    doc: "Area under the ROC curve, for more than two classes the mean of each against the rest; absent if a class has all rows",
    of: |scored| auc(scored.classes()?),
};

fn auc(classes: &Classes<'_>) -> Option<f64> {
    let of = |class: usize| {
        let scores: Vec<f64> = classes.each().map(|(p, _)| p[class]).collect();
        let order = ascending_numbers(&scores);
        let scores: Vec<(f64, bool)> =
            order.into_iter().map(|at| (scores[at as usize], classes.own[at as usize] as usize == class)).collect();
        let positive = scores.iter().filter(|(_, is_own)| *is_own).count();
        let negative = scores.len() - positive;
        let mut ranks = 0.0;
        let mut at = 0;
        while at < scores.len() {
            let end = at + scores[at..].iter().take_while(|(score, _)| key(*score) == key(scores[at].0)).count();
            let rank = 0.5 * (at + 1 + end) as f64;
            ranks += rank * scores[at..end].iter().filter(|(_, is_own)| *is_own).count() as f64;
            at = end;
        }
        let [positive, negative] = [positive, negative].map(|count| count as f64);
        let least = 0.5 * positive * (positive + 1.0);
        (positive > 0.0 && negative > 0.0).then(|| (ranks - least) / (positive * negative))
    };
    // Of two classes, one against the rest is the other turned round.
    let each: Vec<f64> = (usize::from(classes.count == 2)..classes.count).filter_map(of).collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}
