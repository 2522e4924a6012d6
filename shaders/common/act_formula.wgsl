// An activation from its formula, four lanes at a time.
fn act4(z: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(act_value(z.x), act_value(z.y), act_value(z.z), act_value(z.w));
}

fn act_grad4(z: vec4<f32>, a: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(act_slope(z.x), act_slope(z.y), act_slope(z.z), act_slope(z.w));
}
