//! Says that this program cannot write Parquet.

use std::convert::Infallible;
use std::io::{self, Write};
use std::marker::PhantomData;

use crate::{Header, Key};

/// A row that nobody writes.
#[expect(dead_code, reason = "rows are made for any format, and never written")]
pub(super) struct Row {
    pub id: String,
    pub system: Option<String>,
    pub item: String,
    pub scores: Vec<Option<f64>>,
    pub absent: Option<String>,
    pub human: Option<String>,
    pub explanation: Option<String>,
}

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
