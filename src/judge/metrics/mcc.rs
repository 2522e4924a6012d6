//! Matthews' correlation coefficient for any number of classes (Gorodkin 2004): (c s - Σ t p) / √((s² - Σ p²)(s² - Σ t²)) of s rows, c of them right, with t
//! rows of a class and p predicted as it.

use super::Metric;

pub(super) const METRIC: Metric = Metric {
    label: "MCC",
    doc: "Correlation of classes and predicted classes (Matthews), 0 for guesses, also where one class has most rows; absent if a class has all rows",
    of: |scored| {
        let classes = scored.classes()?;
        let (rows, counts) = (classes.rows(), classes.counts());
        let [right, joint, said, own] = [
            counts.iter().map(|count| count.right).sum::<f64>(),
            counts.iter().map(|count| count.own * count.said).sum(),
            counts.iter().map(|count| count.said * count.said).sum(),
            counts.iter().map(|count| count.own * count.own).sum(),
        ];
        let spread = ((rows * rows - said) * (rows * rows - own)).sqrt();
        // As scikit-learn, 0 if all rows are predicted as one class.
        (rows * rows > own).then(|| if spread > 0.0 { (right * rows - joint) / spread } else { 0.0 })
    },
};
