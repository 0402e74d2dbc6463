//! Files of the user: written whole or not at all, read up to a limit, and never written over an
//! input.
//!
//! - [`AtomicFile`] is an output that appears under its name only when it is complete.
//! - [`StagedFolder`] is a set of such files, which get their names together.
//! - [`PartialFile`] is the beginning of a file that a later run continues.
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
mod name;
mod partial;
mod staged;
mod temporary;
mod whole;

pub use atomic::AtomicFile;
pub use folder::list;
pub(crate) use folder::{folder_of, rename};
pub use hashed::{Checksum, Hashed};
pub use identity::{distinct, named_once};
pub use lock::FolderLock;
pub use name::{Ending, FileName};
pub use partial::PartialFile;
pub use staged::{StagedFile, StagedFolder};
pub use temporary::{Temporary, remove_temporaries, uninterrupted};
pub use whole::{read, read_text};
