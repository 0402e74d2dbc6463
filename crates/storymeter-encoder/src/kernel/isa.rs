//! Which instructions this processor has, as found at run time.
//!
//! An [`Isa`] can only be made for instructions that were found, so that holding one is the proof
//! that a kernel needs. The [`vectorised!`] macro compiles one safe function body for each level
//! and picks the right copy.

/// A set of vector instructions that this processor is known to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isa(Level);

/// The levels that there are kernels for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// Plain Rust, vectorised by the compiler for the target's baseline (SSE2, NEON).
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with VNNI (`vpdpbusd`).
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Arm NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Isa {
    /// The best level of this processor.
    pub fn detect() -> Isa {
        *Isa::available().last().expect("the portable level is always there")
    }

    /// Every level of this processor, the slowest first.
    pub fn available() -> Vec<Isa> {
        let mut levels = vec![Isa(Level::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if avx2 {
                levels.push(Isa(Level::Avx2));
            }
            if avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vnni")
            {
                levels.push(Isa(Level::Avx512));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            levels.push(Isa(Level::Neon));
        }
        levels
    }

    /// The level called `name` (`portable`, `avx2`, `avx512-vnni` or `neon`), if this processor has
    /// it.
    pub fn named(name: &str) -> Option<Isa> {
        Isa::available().into_iter().find(|isa| isa.name() == name)
    }

    /// The name of the level.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512-vnni",
            #[cfg(target_arch = "aarch64")]
            Level::Neon => "neon",
        }
    }

    /// The level, for kernels to match on.
    #[inline(always)]
    pub(crate) fn level(self) -> Level {
        self.0
    }
}

/// Defines a function whose body is compiled once for each instruction level. The first argument of
/// the function, an [`Isa`], picks the copy.
///
/// The body is plain safe Rust, whose loops the compiler vectorises for each level. No level
/// contracts `a * b + c` into one rounding, so that all levels give the same bytes.
macro_rules! vectorised {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        #[cfg_attr(
            target_arch = "x86_64",
            expect(unsafe_code, reason = "calls functions for instructions that were found")
        )]
        $vis fn $name(isa: $crate::kernel::Isa, $($arg: $ty),*) {
            #[inline(always)]
            fn body($($arg: $ty),*) $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
            fn avx512($($arg: $ty),*) { body($($arg),*) }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) { body($($arg),*) }
            match isa.level() {
                // SAFETY: an `Isa` of this level exists only if the processor has AVX-512 VNNI and
                // FMA.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Level::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: an `Isa` of this level exists only if the processor has AVX2 and FMA.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Level::Avx2 => unsafe { avx2($($arg),*) },
                _ => body($($arg),*),
            }
        }
    };
}
pub(crate) use vectorised;
