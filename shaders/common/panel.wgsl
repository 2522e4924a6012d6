// A panel of a matrix, 32 x 64, for SwiftShader, where a load at a computed address takes about 50 cycles and one at a constant address none:
// the panel stays at constant addresses and is multiplied by one vector after another.

/// Matrix 16 c + q maps quad q of a vector to quad c of its product.
var<private> panel: array<mat4x4<f32>, 128>;

struct Four { a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32> }

/// The quads of a vector.
struct Sixteen { a: Four, b: Four, c: Four, d: Four }

/// The quads of a product with a panel.
struct Eight { a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>, e: vec4<f32>, f: vec4<f32>, g: vec4<f32>, h: vec4<f32> }

fn product_of_four(i: u32, x: Four) -> vec4<f32> {
    return panel[i] * x.a + panel[i + 1u] * x.b + panel[i + 2u] * x.c + panel[i + 3u] * x.d;
}

/// z plus the product of matrices 16 c + i to 16 c + i + 3 of the panel with four quads of a vector.
fn add_product(i: u32, x: Four, z: Eight) -> Eight {
    return Eight(z.a + product_of_four(i, x), z.b + product_of_four(i + 16u, x), z.c + product_of_four(i + 32u, x), z.d + product_of_four(i + 48u, x),
        z.e + product_of_four(i + 64u, x), z.f + product_of_four(i + 80u, x), z.g + product_of_four(i + 96u, x), z.h + product_of_four(i + 112u, x));
}

fn product(x: Sixteen, z: Eight) -> Eight { return add_product(12u, x.d, add_product(8u, x.c, add_product(4u, x.b, add_product(0u, x.a, z)))); }

/// Quad c of the panel's product with a vector, i = 16 c.
fn quad_of_product(i: u32, x: Sixteen) -> vec4<f32> {
    return product_of_four(i, x.a) + product_of_four(i + 4u, x.b) + product_of_four(i + 8u, x.c) + product_of_four(i + 12u, x.d);
}
