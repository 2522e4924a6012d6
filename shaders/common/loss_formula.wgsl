// A pointwise loss from its formula, four lanes at a time.
fn loss4(z: vec4<f32>, y: vec4<f32>) -> Loss4 {
    let value = vec4<f32>(loss_value(z.x, y.x), loss_value(z.y, y.y), loss_value(z.z, y.z), loss_value(z.w, y.w));
    return Loss4(value, vec4<f32>(loss_slope(z.x, y.x), loss_slope(z.y, y.y), loss_slope(z.z, y.z), loss_slope(z.w, y.w)));
}
