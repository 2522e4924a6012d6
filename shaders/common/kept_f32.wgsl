// Storage of quads in scratch: f32.
alias Kept = vec4<f32>;

fn wide(quad: Kept) -> vec4<f32> { return quad; }

fn narrow(quad: vec4<f32>) -> Kept { return quad; }

fn as_kept(z: vec4<f32>, is_own: vec4<bool>) -> vec4<f32> { return z; }

fn is_lost() -> bool { return false; }
