// Few parameters: every invocation adds up every 256th row in private scalars, which the body declares with add(row). They are added up over the
// workgroup in slices of at most 15, so that these and the counters fit in 16 KiB.

var<workgroup> slice: array<f32, 3840>;

fn sum_rows(first: u32, last: u32, lane: u32) {
    for (var at = first + lane; at < last; at += 256u) {
        add(row_at(at));
    }
}

// Writes the sums of `count` scalars over the workgroup: scalar k of an invocation is slice[256 k + lane]. First sixteen invocations add up
// sixteen values each, then one the sixteen results.
fn write_slice(count: u32, place: u32, lane: u32) {
    workgroupBarrier();
    let k = lane / 16u;
    var sum = 0.0;
    if k < count {
        for (var i = 0u; i < 16u; i++) {
            sum += slice[256u * k + 16u * i + lane % 16u];
        }
    }
    workgroupBarrier();
    slice[lane] = sum;
    workgroupBarrier();
    if lane < count {
        var total = 0.0;
        for (var i = 0u; i < 16u; i++) {
            total += slice[16u * lane + i];
        }
        partials[place + lane] = total;
    }
    workgroupBarrier();
}
