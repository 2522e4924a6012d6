enable f16;

// What the quads of scratch are: halves. Beyond their ends WGSL leaves the conversion open, so numbers are held.
alias Kept = vec4<f16>;

fn wide(quad: Kept) -> vec4<f32> { return vec4<f32>(quad); }

fn narrow(quad: vec4<f32>) -> Kept { return vec4<f16>(clamp(quad, vec4<f32>(-65504.0), vec4<f32>(65504.0))); }
