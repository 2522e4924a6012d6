// What the quads of scratch are: words as they are.
alias Kept = vec4<f32>;

fn wide(quad: Kept) -> vec4<f32> { return quad; }

fn narrow(quad: vec4<f32>) -> Kept { return quad; }

fn is_lost() -> bool { return false; }
