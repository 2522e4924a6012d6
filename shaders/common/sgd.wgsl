// SGD: g += wd p; buffer = momentum buffer + g; p -= lr (buffer, or g + momentum buffer with Nesterov).
fn update(i: u32, n: u32, gradient: vec4<f32>, rates: Rates) {
    let p = theta[i];
    let g = gradient + params.weight_decay * p;
    let buffer = params.momentum * moments[i] + g;
    moments[i] = buffer;
    theta[i] = rates.decay * p - rates.lr * select(buffer, g + params.momentum * buffer, params.nesterov != 0u);
}
