//! How cells are written: numbers, dates, truth values, words for missing ones.
