//! The rule of memory: what is about to be held is compared with what is left before it is allocated, since a failed allocation ends the process.

use std::cell::Cell;

use super::{gib, memory_left};

/// Errors if `bytes` more do not fit in memory. `what` names what they are for, in the plural: `8000000 cells`.
pub fn has_room(bytes: u64, what: impl FnOnce() -> String) -> Result<(), String> {
    let left = memory_left();
    if bytes <= left.bytes {
        return Ok(());
    }
    let (what, by, [needed, most]) = (what(), left.by, [bytes, left.bytes].map(gib));
    Err(format!("does not fit in memory: {what} take {needed}, expected at most {most} ({by})"))
}

/// Makes room for `more` items, and no more. Errors as [`has_room`] if they do not fit in memory.
pub fn reserve<T>(items: &mut Vec<T>, more: usize, what: impl Fn() -> String) -> Result<(), String> {
    if items.capacity() - items.len() >= more {
        return Ok(());
    }
    // Items that are there may have to move.
    let bytes = (size_of::<T>() as u64).saturating_mul((items.len() as u64).saturating_add(more as u64));
    has_room(bytes, &what)?;
    let refused = |_| format!("does not fit in memory: {} take {}, which cannot be allocated", what(), gib(bytes));
    trying(|| items.try_reserve_exact(more)).map_err(refused)
}

/// A vector of `length` times `value`. Errors as [`reserve`].
pub fn filled<T: Clone>(value: T, length: usize, what: impl Fn() -> String) -> Result<Vec<T>, String> {
    let mut items = Vec::new();
    reserve(&mut items, length, what)?;
    items.resize(length, value);
    Ok(items)
}

thread_local! {
    static IS_TRYING: Cell<bool> = const { Cell::new(false) };
}

/// What `allocate` gives. Meanwhile an allocation may fail, see [`is_trying`].
pub fn trying<R>(allocate: impl FnOnce() -> R) -> R {
    IS_TRYING.set(true);
    let outcome = allocate();
    IS_TRYING.set(false);
    outcome
}

/// Whether this thread handles an allocation that fails now. A program whose allocator asks can end with a message if not.
pub fn is_trying() -> bool {
    IS_TRYING.try_with(Cell::get).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_sizes() {
        assert_eq!(has_room(1, String::new), Ok(()));
        let said = has_room(u64::MAX, || "9 cells".into()).unwrap_err();
        let start = "does not fit in memory: 9 cells take 17179869184.0 GiB, expected at most ";
        assert!(said.starts_with(start) && said.ends_with(')'), "{said}");
        let mut items = vec![1_u32, 2];
        assert!(reserve(&mut items, usize::MAX / 8, || "items".into()).is_err());
        assert_eq!(items, [1, 2]);
        reserve(&mut items, 5, || "items".into()).unwrap();
        assert!(items.capacity() >= 7);
        assert_eq!(filled(3_u8, 2, || "items".into()), Ok(vec![3, 3]));
    }

    #[test]
    fn only_the_closure_is_tried() {
        assert!(!is_trying());
        assert!(trying(is_trying));
        assert!(!is_trying());
    }
}
