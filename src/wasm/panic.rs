//! What a panic becomes: a call to whoever registered, then a JavaScript `Error` out of the call that panicked.

use std::cell::RefCell;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

thread_local! {
    static LISTENER: RefCell<Option<js_sys::Function>> = const { RefCell::new(None) };
}

/// Registers `listener(message)`: a promise under way would otherwise never learn that its future is gone.
#[wasm_bindgen]
pub fn on_panic(listener: js_sys::Function) {
    LISTENER.set(Some(listener));
    std::panic::set_hook(Box::new(|info| tell(&format!("meromorph: internal error: {info}"))));
}

fn tell(message: &str) -> ! {
    if let Some(listener) = LISTENER.take() {
        // The listener only passes the message on; were it to fail, the throw below still tells.
        let _ = listener.call1(&JsValue::NULL, &message.into());
    }
    wasm_bindgen::throw_str(message)
}
