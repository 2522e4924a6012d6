/// Words per row.
fn output_count() -> u32 { return params.outputs; }

/// Writes output `o` of a row.
fn write_output(z_at: u32, row: u32, o: u32) { out[row * params.outputs + o] = wide(scratch[z_at + (o >> 2u)])[o & 3u]; }
