// Shared by projective heads: access to words of a sample's quads and of the parameters.
// The kernel declares theta (read) and scratch (read_write), both as quads.
fn word(at: u32, k: u32) -> f32 { return scratch[at + (k >> 2u)][k & 3u]; }

fn set_word(at: u32, k: u32, value: f32) { scratch[at + (k >> 2u)][k & 3u] = value; }

fn theta_word(at: u32) -> f32 { return theta[at >> 2u][at & 3u]; }

/// Values per row: pairs, numerators first.
fn values() -> u32 { return params.targets / 2u; }
