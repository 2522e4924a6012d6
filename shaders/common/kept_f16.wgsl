enable f16;

// What the quads of scratch are: halves.
alias Kept = vec4<f16>;

fn wide(quad: Kept) -> vec4<f32> { return vec4<f32>(quad); }

fn narrow(quad: vec4<f32>) -> Kept { return vec4<f16>(within_half(quad)); }
