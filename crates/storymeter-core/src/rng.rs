//! Random streams that belong to an item, never to a thread.
//!
//! A stream is named by `(seed, record, draw)`: the user's seed, the 0-based number of the record in the whole
//! input, and which of the record's draws this is. Whoever works on the record, in whatever order, sees the
//! same numbers, so results do not depend on threads, batches or how a file was cut up.

pub use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The stream of one draw of one record.
///
/// ```
/// use rand_chacha::rand_core::Rng;
/// let mut a = storymeter_core::rng::stream(7, 41, 0);
/// let mut b = storymeter_core::rng::stream(7, 41, 0);
/// let mut c = storymeter_core::rng::stream(7, 41, 1);
/// let first = a.next_u64();
/// assert_eq!(first, b.next_u64());
/// assert_ne!(first, c.next_u64());
/// ```
pub fn stream(seed: u64, record: u64, draw: u64) -> ChaCha8Rng {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&record.to_le_bytes());
    key[16..24].copy_from_slice(&draw.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}
