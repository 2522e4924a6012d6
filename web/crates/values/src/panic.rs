//! Handles a panic: calls the registered listener, then throws a JavaScript `Error` from the call that panicked.

use std::cell::RefCell;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

thread_local! {
    static LISTENER: RefCell<Option<js_sys::Function>> = const { RefCell::new(None) };
}

/// Registers `listener(message)`; without it, a pending promise would never settle after a panic.
#[wasm_bindgen]
pub fn on_panic(listener: js_sys::Function) {
    LISTENER.set(Some(listener));
    std::panic::set_hook(Box::new(|info| notify(&format!("meromorph: internal error: {info}"))));
}

fn notify(message: &str) -> ! {
    if let Some(listener) = LISTENER.take() {
        // The listener only passes the message on; if it fails, the throw below still reports it.
        let _ = listener.call1(&JsValue::NULL, &message.into());
    }
    wasm_bindgen::throw_str(message)
}
