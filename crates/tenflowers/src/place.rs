//! The device of a thread: the one that its tapes used last, so that the guide's calls need none as an argument.

use std::cell::RefCell;

use meromorph::device::Device;

thread_local! {
    static CURRENT: RefCell<Option<Device>> = const { RefCell::new(None) };
}

/// The device that tapes of this thread used last; if there was none, the CPU with one thread.
pub fn current() -> Device {
    CURRENT.with_borrow_mut(|current| current.get_or_insert_with(|| Device::cpu(1)).clone())
}

/// Tapes use this device.
pub(crate) fn note(device: &Device) {
    CURRENT.with_borrow_mut(|current| {
        if !current.as_ref().is_some_and(|known| known.is(device)) {
            *current = Some(device.clone());
        }
    });
}
