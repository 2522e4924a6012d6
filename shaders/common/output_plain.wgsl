/// Words per row.
fn answers() -> u32 { return params.outputs; }

/// Writes number `o` of a row's answers.
fn give(z_at: u32, row: u32, o: u32) { out[row * params.outputs + o] = wide(scratch[z_at + (o >> 2u)])[o & 3u]; }
