// Adam and AdamW: g += wd p (0 for AdamW); p *= decay; m, v = running means of g, g^2; p -= scale m / (sqrt(v) root + eps).
fn update(i: u32, n: u32, gradient: vec4<f32>, rates: Rates) {
    let p = theta[i];
    let g = gradient + params.weight_decay * p;
    let m = params.beta1 * moments[i] + (1.0 - params.beta1) * g;
    let v = params.beta2 * moments[n + i] + (1.0 - params.beta2) * g * g;
    moments[i] = m;
    moments[n + i] = v;
    theta[i] = rates.decay * p - rates.scale * m / (sqrt(v) * rates.root + params.eps);
}
