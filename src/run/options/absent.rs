//! Options that other programs have and this one has not yet: what to do instead.

/// Names of an option, in snake case, and the message about it.
const ABSENT: [(&[&str], &str); 2] = [
    (
        &[
            "weight",
            "weights",
            "sample_weight",
            "sample_weights",
            "row_weight",
            "row_weights",
            "weight_column",
            "instance_weight",
        ],
        "weights of rows are not possible yet: repeat rows as often as they count, leave out those of weight 0, or weight classes with class_weights balanced",
    ),
    (
        &["targets", "labels", "target_columns", "multi_target"],
        "several targets are not learnt at once yet: train a model for each, with the other targets under ignore",
    ),
];

/// What to do instead of an option that is not there, whose name is in snake case.
pub fn absent(name: &str) -> Option<&'static str> {
    ABSENT.iter().find(|(names, _)| names.contains(&name)).map(|(_, message)| *message)
}
