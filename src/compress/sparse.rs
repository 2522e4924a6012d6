//! Values at some places, zeros elsewhere. The places are a list (u32 each) or a map (a bit for each of the n values), whichever is smaller:
//! 8 k bytes or n / 8 + 4 k bytes for k values. If neither is smaller than all values (4 n), all are written.

use super::bytes::{check_finite, floats, put_floats, words};
use super::encoding::Encoding;
use crate::error::{Error, Result};

/// Bytes of a map of `length` bits.
fn map_size(length: usize) -> usize {
    length.div_ceil(8)
}

/// Appends the values that are kept, and their places.
pub(super) fn write(out: &mut Vec<u8>, values: &[f32], is_kept: impl Fn(usize, f32) -> bool) -> Encoding {
    let kept = values.iter().enumerate().filter(|(place, value)| is_kept(*place, **value));
    let places: Vec<u32> = kept.map(|(place, _)| place as u32).collect();
    let kept = places.iter().map(|place| (*place as usize, values[*place as usize]));
    let encoding = smallest(values.len(), places.len());
    match encoding {
        Encoding::List => places.iter().for_each(|place| out.extend_from_slice(&place.to_le_bytes())),
        Encoding::Map => {
            let start = out.len();
            out.resize(start + map_size(values.len()), 0);
            for place in &places {
                out[start + *place as usize / 8] |= 1 << (place % 8);
            }
        }
        _ => {
            let mut all = vec![0.0; values.len()];
            kept.for_each(|(place, value)| all[place] = value);
            put_floats(out, all);
            return encoding;
        }
    }
    put_floats(out, kept.map(|(_, value)| value));
    encoding
}

fn smallest(length: usize, count: usize) -> Encoding {
    let (list, map, all) = (8 * count, map_size(length) + 4 * count, 4 * length);
    if all <= list.min(map) {
        Encoding::All
    } else if list <= map {
        Encoding::List
    } else {
        Encoding::Map
    }
}

/// The places of a list and its values.
fn list(payload: &[u8]) -> (&[u8], &[u8]) {
    payload.split_at(payload.len() / 8 * 4)
}

/// An error unless the payload is a list for `length` values.
pub(super) fn check_list(payload: &[u8], length: usize) -> Result<()> {
    if !payload.len().is_multiple_of(8) {
        return Err(Error::new(format!("list: got {} bytes, expected a multiple of 8", payload.len())));
    }
    let (places, values) = list(payload);
    let mut least = 0;
    for place in words(places).map(|place| place as usize) {
        if !(least..length).contains(&place) {
            return Err(Error::new(format!("list: got place {place}, expected from {least} and below {length}")));
        }
        least = place + 1;
    }
    check_finite(floats(values), |at| format!("value {at} of the list"))
}

/// Calls `each` with the places and values of a list.
pub(super) fn visit_list(payload: &[u8], mut each: impl FnMut(usize, f32)) {
    let (places, values) = list(payload);
    words(places).zip(floats(values)).for_each(|(place, value)| each(place as usize, value));
}

/// An error unless the payload is a map for `length` values.
pub(super) fn check_map(payload: &[u8], length: usize) -> Result<()> {
    let size = map_size(length);
    let (map, values) = payload
        .split_at_checked(size)
        .ok_or_else(|| Error::new(format!("map: got {} bytes, expected at least {size}", payload.len())))?;
    let count: usize = map.iter().map(|byte| byte.count_ones() as usize).sum();
    if values.len() != 4 * count {
        return Err(Error::new(format!(
            "map: got {} bytes of values, expected {} for {count} bits",
            values.len(),
            4 * count
        )));
    }
    if !length.is_multiple_of(8) && map.last().is_some_and(|last| last >> (length % 8) != 0) {
        return Err(Error::new(format!("map: got a bit behind the last value, expected {length} values")));
    }
    check_finite(floats(values), |at| format!("value {at} of the map"))
}

/// Calls `each` with the places and values of a map.
pub(super) fn visit_map(payload: &[u8], length: usize, mut each: impl FnMut(usize, f32)) {
    let (map, values) = payload.split_at(map_size(length));
    let mut values = floats(values);
    for (at, byte) in map.iter().enumerate() {
        let mut left = *byte;
        while left != 0 {
            let place = 8 * at + left.trailing_zeros() as usize;
            // A checked map has as many values as bits.
            values.by_ref().take(1).for_each(|value| each(place, value));
            left &= left - 1;
        }
    }
}
