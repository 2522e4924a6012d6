enable f16;

// Storage of quads in scratch: f16.
alias Kept = vec4<f16>;

fn wide(quad: Kept) -> vec4<f32> { return vec4<f32>(quad); }

fn narrow(quad: vec4<f32>) -> Kept { return vec4<f16>(within_half(quad)); }
