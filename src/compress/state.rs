//! What a compressor knows of each name, and its bytes in a checkpoint: `"MGRE"  version u32`, then for each name
//! `size u32  name  calls u64  length u64  residual`, then CRC-32 of all before it.

use std::collections::BTreeMap;

use super::bytes::{check_finite, floats, open, part, put_floats, seal, take};
use crate::error::{Error, Result};

const MAGIC: [u8; 4] = *b"MGRE";
/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// What is known of a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    /// Earlier calls: random rounding depends on them.
    pub(super) calls: u64,
    /// What earlier messages left out; empty if nothing.
    pub(super) residual: Vec<f32>,
}

pub(super) fn write(states: &BTreeMap<String, State>) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&VERSION.to_le_bytes());
    for (name, state) in states {
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&state.calls.to_le_bytes());
        out.extend_from_slice(&(state.residual.len() as u64).to_le_bytes());
        put_floats(&mut out, state.residual.iter().copied());
    }
    seal(out)
}

pub(super) fn read(bytes: &[u8]) -> Result<BTreeMap<String, State>> {
    let mut rest = open(bytes, MAGIC)?;
    let version = u32::from_le_bytes(take(&mut rest)?);
    if version != VERSION {
        return Err(Error::new(format!("version: got {version}, expected {VERSION}")));
    }
    let mut states = BTreeMap::new();
    while !rest.is_empty() {
        let size = u32::from_le_bytes(take(&mut rest)?);
        let name = part(&mut rest, u64::from(size))?;
        let name = std::str::from_utf8(name).map_err(|_| Error::new("name: got other bytes, expected UTF-8"))?;
        let calls = u64::from_le_bytes(take(&mut rest)?);
        let length = u64::from_le_bytes(take(&mut rest)?);
        let residual: Vec<f32> = floats(part(&mut rest, length.saturating_mul(4))?).collect();
        check_finite(residual.iter().copied(), |at| format!("{name}[{at}]"))?;
        states.insert(name.to_owned(), State { calls, residual });
    }
    Ok(states)
}
