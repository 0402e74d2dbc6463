//! Ends the program cleanly when the user interrupts it: temporary files are removed first.

use std::sync::Arc;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::signal_name;
use storymeter_core::file::remove_temporaries;

/// Waits for SIGINT (Ctrl-C), SIGTERM and other signals that end a program, on a thread of its own.
///
/// The program then ends by the same signal, so that the shell or the job scheduler sees what
/// happened. A signal that the caller wants to be ignored, as `nohup` does, stays ignored.
pub fn watch() {
    let ignored = ignored();
    let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU]
        .into_iter()
        .filter(|signal| !ignored.contains(signal));
    // A limit on the size of files is an error of the write that reaches it, not a sudden end.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    // Without the watcher the program works too; a temporary file may then stay for some time.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let _ = thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_temporaries();
            crate::progress::end();
            let name = signal_name(signal).unwrap_or("a signal");
            crate::note(&format!("interrupted by {name}; what was not complete has been removed"));
            // This ends the process, unless the system refuses.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            std::process::exit(2);
        }
    });
}

/// The signals that the process was started to ignore, where the system tells (Linux).
fn ignored() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    (1..=64).filter(|signal| mask >> (signal - 1) & 1 == 1).collect()
}
