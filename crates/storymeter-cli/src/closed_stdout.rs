//! Finds out whether the program was started without a standard output (`>&-`).
//!
//! Before `main`, the runtime of Rust opens `/dev/null` in place of a standard output that is
//! closed, because the next file to be opened would get its number otherwise. From then on all
//! results vanish without an error. Whether it was closed can therefore only be seen before the
//! runtime starts.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the program started.
pub fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

/// Remembers that it was closed.
pub fn remember() {
    WAS_CLOSED.store(true, Ordering::Relaxed);
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod before_main {
    use super::{Ordering, WAS_CLOSED};

    extern "C" fn look() {
        let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        WAS_CLOSED.store(closed, Ordering::Relaxed);
    }

    // SAFETY: the loader calls every function of this section once, before `main`. `look` is such
    // a function: it takes nothing, returns nothing, cannot panic, and uses nothing of the runtime
    // of Rust, which has not started yet; it makes one system call and stores one flag.
    #[allow(unsafe_code, reason = "only the linker can have something called before the runtime")]
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;
}
