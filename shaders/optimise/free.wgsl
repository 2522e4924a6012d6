// No limit: partial gradients are summed here.
const WEIGHT: u32 = 1u;
struct Limit { is_applied: bool, factor: f32, row: u32, share: f32 }
fn limited(invocation: u32, lane: u32, n: u32, share: f32, cursor: u32, is_last: bool) -> Limit { return Limit(is_last, 1.0, cursor, share); }
