//! What is learnt: targets, rare classes, few rows, time; and that a model knows how its table was written.
