//! Models and fits for people: tables, charts and pages that several commands print or write.

pub(crate) mod columns;
pub(crate) mod examine;
pub(crate) mod fitted;
pub(crate) mod folds;
pub(crate) mod labels;
pub(crate) mod metrics;
pub(crate) mod page;
pub(crate) mod plot;
