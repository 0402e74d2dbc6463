//! The executor, from outside.

mod in_order;
