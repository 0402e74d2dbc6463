//! Files of the user: written whole or not at all, read up to a limit, and never written over an
//! input.
//!
//! - [`AtomicFile`] is an output that appears under its name only when it is complete.
//! - [`Temporary`] is a file or a folder that goes away by itself, also when the program is
//!   interrupted ([`remove_temporaries`]) or was killed (the next one to work in that folder
//!   removes it).
//! - [`read`] reads a whole file that must not be larger than its caller expects.
//! - [`distinct`] refuses an output that is also an input, and [`named_once`] a pipe that two
//!   readers would share.
//! - [`list`] says what is in a folder.
//! - [`FolderLock`] keeps two programs from writing into one folder.
//! - [`Checksum`] tells whether a file is still what was written, and [`Hashed`] finds it while the
//!   file is written or read.

mod atomic;
mod folder;
mod hashed;
mod identity;
mod lock;
mod temporary;
mod whole;

pub use atomic::AtomicFile;
pub use folder::list;
pub use hashed::{Checksum, Hashed};
pub use identity::{distinct, named_once};
pub use lock::FolderLock;
pub use temporary::{Temporary, remove_temporaries, uninterrupted};
pub use whole::{read, read_text};
