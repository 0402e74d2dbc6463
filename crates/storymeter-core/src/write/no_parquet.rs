//! Says that this program cannot write Parquet.

use std::convert::Infallible;
use std::io::{self, Write};
use std::marker::PhantomData;

use super::scores::Row;
use crate::{Header, Key};

/// A writer that cannot be made.
pub(super) struct Writer<W: Write + Send>(Infallible, PhantomData<W>);

impl<W: Write + Send> Writer<W> {
    pub fn new(_: W, _: &[Key], _: bool) -> io::Result<Self> {
        let problem = "this program was built without the feature `parquet`, so it cannot write \
                       Parquet";
        Err(io::Error::new(io::ErrorKind::Unsupported, problem))
    }

    pub fn write(&mut self, _: Vec<Row>) -> io::Result<()> {
        match self.0 {}
    }

    pub fn finish(self, _: &Header) -> io::Result<W> {
        match self.0 {}
    }
}
