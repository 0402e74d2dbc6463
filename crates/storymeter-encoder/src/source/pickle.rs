//! Reads the pickles that `torch.save` writes, without running anything.
//!
//! A pickle is a small program for a machine with a stack. Python's machine may call any function
//! of any module, so that opening a foreign file can do anything. This one knows only the few names
//! that make up tensors and the instructions that PyTorch writes, and refuses everything else.
//!
//! A program of a few bytes can name what it made before as often as it likes. Therefore texts and
//! tensors are shared and never copied, the number of values is limited, and all work is linear in
//! the length of the program.

use super::content::Number;
use crate::error::excerpt;
use std::collections::HashMap;
use std::sync::Arc;

/// What is wrong with a pickle.
type Result<T> = std::result::Result<T, String>;

/// The place of a value in the list of all values.
type Id = u32;

/// The most values of a program. A model of a thousand tensors needs 20,000.
const MOST_VALUES: usize = 1 << 20;

/// The most bytes of the name of a storage, which is a number in all files of PyTorch.
const LONGEST_KEY: usize = 255;

/// What the program has made so far.
#[derive(Clone, Debug)]
enum Value {
    /// Something that no tensor needs, such as a text in bytes.
    Other,
    Nothing,
    Flag(bool),
    /// PyTorch's magic number has ten bytes, so eight are not enough.
    Whole(i128),
    Text(Arc<str>),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Global(Global),
    Storage(Storage),
    Tensor(Arc<View>),
}

/// The names that a program may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    StorageOf(Kind),
}

/// What the numbers of a storage are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Numbers that weights can have.
    Float(Number),
    /// Whole numbers and truth values, which no weights are, of this many bytes each.
    Whole(u8),
}

impl Kind {
    /// The bytes of one number.
    pub(super) fn size(self) -> u64 {
        match self {
            Kind::Float(number) => number.size() as u64,
            Kind::Whole(size) => size.into(),
        }
    }
}

/// A list of numbers in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Storage {
    /// Its name. In an archive, its file has this name after `data/`.
    pub(super) key: Arc<str>,
    pub(super) kind: Kind,
    /// How many numbers it has.
    pub(super) count: usize,
}

/// A tensor: some numbers of a storage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct View {
    pub(super) storage: Storage,
    /// The first number.
    pub(super) offset: usize,
    pub(super) shape: Vec<usize>,
    /// How far apart in the storage neighbours along each dimension are.
    pub(super) strides: Vec<usize>,
}

/// What is wrong with a pickle whose end is missing.
pub(super) const CUT_OFF: &str = "the pickle is cut off";

/// What a pickle has made.
pub(super) struct Pickled {
    values: Vec<Value>,
    top: Id,
}

/// Reads the pickle at the beginning of `bytes`, which are then those that follow it.
///
/// # Errors
/// Returns an error if the pickle is cut off or damaged, or needs anything that does not make
/// tensors.
pub(super) fn load(bytes: &mut &[u8]) -> Result<Pickled> {
    let mut machine = Machine::new(bytes);
    let top = machine.run()?;
    *bytes = machine.program;
    Ok(Pickled { values: machine.values, top })
}

impl Pickled {
    fn value(&self, id: Id) -> &Value {
        &self.values[id as usize]
    }

    /// The whole number that was pickled, if it is one.
    pub(super) fn whole(&self) -> Option<i128> {
        match self.value(self.top) {
            Value::Whole(number) => Some(*number),
            _ => None,
        }
    }

    /// The texts of the list that was pickled, if it is such a list.
    pub(super) fn texts(&self) -> Option<Vec<&str>> {
        let Value::List(items) = self.value(self.top) else { return None };
        let text = |id: &Id| match self.value(*id) {
            Value::Text(text) => Some(&**text),
            _ => None,
        };
        items.iter().map(text).collect()
    }

    /// The truth value of this name in the table that was pickled, if there is one.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        let Value::Dict(entries) = self.value(self.top) else { return None };
        entries.iter().rev().find_map(|(key, value)| match (self.value(*key), self.value(*value)) {
            (Value::Text(key), Value::Flag(flag)) if **key == *name => Some(*flag),
            _ => None,
        })
    }

    /// The tensors of the table of names and tensors that was pickled, in the order of the file. As
    /// in Python, the last of several entries with one name counts.
    ///
    /// # Errors
    /// Returns an error if it is no table.
    pub(super) fn tensors(&self) -> Result<Vec<(Arc<str>, Arc<View>)>> {
        let Value::Dict(entries) = self.value(self.top) else {
            return Err("the pickle is not a table of names and tensors".into());
        };
        // Entries that name the same value come first, so that no text is looked at more than once.
        let mut last: HashMap<Id, Id> = entries.iter().copied().collect();
        let (mut found, mut places) = (Vec::new(), HashMap::new());
        for (key, _) in entries {
            let Some(value) = last.remove(key) else { continue };
            let (Value::Text(name), Value::Tensor(view)) = (self.value(*key), self.value(value))
            else {
                continue;
            };
            match places.get(name) {
                Some(place) => found[*place] = (name.clone(), view.clone()),
                None => {
                    places.insert(name.clone(), found.len());
                    found.push((name.clone(), view.clone()));
                }
            }
        }
        Ok(found)
    }

    /// Every storage that the pickle mentions, as often as it does.
    pub(super) fn storages(&self) -> impl Iterator<Item = &Storage> {
        self.values.iter().filter_map(|value| match value {
            Value::Storage(storage) => Some(storage),
            _ => None,
        })
    }
}

struct Machine<'a> {
    program: &'a [u8],
    values: Vec<Value>,
    stack: Vec<Id>,
    /// The heights of the stack at the marks.
    marks: Vec<usize>,
    memory: HashMap<u32, Id>,
}

// Values that a program of one byte makes are made only once.
const NOTHING: Id = 0;
const OTHER: Id = 1;
const EMPTY_TUPLE: Id = 2;
const TRUE: Id = 3;
const FALSE: Id = 4;

impl<'a> Machine<'a> {
    fn new(program: &'a [u8]) -> Machine<'a> {
        Machine {
            program,
            values: vec![
                Value::Nothing,
                Value::Other,
                Value::Tuple(Vec::new()),
                Value::Flag(true),
                Value::Flag(false),
            ],
            stack: Vec::new(),
            marks: Vec::new(),
            memory: HashMap::new(),
        }
    }

    fn value(&self, id: Id) -> &Value {
        &self.values[id as usize]
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, after) = self.program.split_at_checked(count).ok_or(CUT_OFF)?;
        self.program = after;
        Ok(taken)
    }

    /// A little-endian whole number without a sign, of at most eight bytes.
    fn number(&mut self, size: usize) -> Result<u64> {
        let taken = self.take(size)?;
        Ok(taken.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Bytes after their number, which has `size` bytes.
    fn counted(&mut self, size: usize) -> Result<&'a [u8]> {
        let count = usize::try_from(self.number(size)?).unwrap_or(usize::MAX);
        self.take(count)
    }

    fn line(&mut self) -> Result<String> {
        let end = self.program.iter().position(|byte| *byte == b'\n');
        let line = self.take(end.ok_or(CUT_OFF)?)?;
        self.take(1)?;
        Ok(String::from_utf8_lossy(line).into_owned())
    }

    fn push(&mut self, value: Value) -> Result<()> {
        if self.values.len() >= MOST_VALUES {
            return Err(format!("the pickle makes more than {MOST_VALUES} values"));
        }
        self.values.push(value);
        self.stack.push(self.values.len() as Id - 1);
        Ok(())
    }

    fn push_text(&mut self, bytes: &[u8]) -> Result<()> {
        self.push(Value::Text(String::from_utf8_lossy(bytes).into()))
    }

    fn pop(&mut self) -> Result<Id> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err("the pickle takes a value that it has not made".into());
        }
        self.stack.pop().ok_or_else(|| "the pickle takes a value that it has not made".into())
    }

    fn top(&self) -> Result<Id> {
        self.stack.last().copied().ok_or_else(|| "the pickle uses a value it has not made".into())
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>> {
        let height = self.marks.pop().ok_or("the pickle lacks a mark")?;
        Ok(self.stack.split_off(height))
    }

    fn pop_count(&mut self, count: usize) -> Result<Vec<Id>> {
        let mut taken = (0..count).map(|_| self.pop()).collect::<Result<Vec<Id>>>()?;
        taken.reverse();
        Ok(taken)
    }

    fn remember(&mut self, place: u32) -> Result<()> {
        let top = self.top()?;
        self.memory.insert(place, top);
        Ok(())
    }

    fn recall(&mut self, place: u32) -> Result<()> {
        let id = self.memory.get(&place).ok_or("the pickle recalls what it has not stored")?;
        self.stack.push(*id);
        Ok(())
    }

    /// Runs the program to its end, and returns what it leaves on the stack.
    fn run(&mut self) -> Result<Id> {
        loop {
            let code = self.take(1)?[0];
            match code {
                b'.' => return self.pop(),
                // PROTO and FRAME
                0x80 => drop(self.take(1)?),
                0x95 => drop(self.take(8)?),
                b'(' => self.marks.push(self.stack.len()),
                b'0' => drop(self.pop()?),
                b'1' => drop(self.pop_to_mark()?),
                b'2' => {
                    let top = self.top()?;
                    self.stack.push(top);
                }
                b'N' => self.stack.push(NOTHING),
                0x88 => self.stack.push(TRUE),
                0x89 => self.stack.push(FALSE),
                b'J' => {
                    let number = self.number(4)? as u32;
                    self.push(Value::Whole(number.cast_signed().into()))?;
                }
                b'K' | b'M' => {
                    let number = self.number(if code == b'K' { 1 } else { 2 })?;
                    self.push(Value::Whole(number.into()))?;
                }
                // LONG1 and LONG4
                0x8a | 0x8b => {
                    let bytes = self.counted(if code == 0x8a { 1 } else { 4 })?;
                    self.push(long(bytes))?;
                }
                b'G' => {
                    self.take(8)?;
                    self.stack.push(OTHER);
                }
                b'X' | 0x8c | 0x8d => {
                    let text = self.counted(match code {
                        b'X' => 4,
                        0x8c => 1,
                        _ => 8,
                    })?;
                    self.push_text(text)?;
                }
                // The strings of Python 2.
                b'T' | b'U' => {
                    let text = self.counted(if code == b'T' { 4 } else { 1 })?;
                    self.push_text(text)?;
                }
                b'B' | b'C' | 0x8e => {
                    self.counted(match code {
                        b'B' => 4,
                        b'C' => 1,
                        _ => 8,
                    })?;
                    self.stack.push(OTHER);
                }
                b')' => self.stack.push(EMPTY_TUPLE),
                b't' => {
                    let items = self.pop_to_mark()?;
                    self.push(Value::Tuple(items))?;
                }
                0x85..=0x87 => {
                    let items = self.pop_count(usize::from(code - 0x84))?;
                    self.push(Value::Tuple(items))?;
                }
                b']' => self.push(Value::List(Vec::new()))?,
                b'l' => {
                    let items = self.pop_to_mark()?;
                    self.push(Value::List(items))?;
                }
                b'a' | b'e' => self.append(code == b'e')?,
                b'}' => self.push(Value::Dict(Vec::new()))?,
                b'd' => {
                    let items = self.pop_to_mark()?;
                    let pairs = pairs(&items)?;
                    self.push(Value::Dict(pairs))?;
                }
                b's' | b'u' => self.set_items(code == b'u')?,
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.push(Value::Global(global(&module, &name)?))?;
                }
                0x93 => self.stack_global()?,
                b'R' => self.call()?,
                b'b' => self.set_state()?,
                b'Q' => self.persistent()?,
                b'q' | b'r' => {
                    let place = self.number(if code == b'q' { 1 } else { 4 })? as u32;
                    self.remember(place)?;
                }
                0x94 => self.remember(self.memory.len() as u32)?,
                b'h' | b'j' => {
                    let place = self.number(if code == b'h' { 1 } else { 4 })? as u32;
                    self.recall(place)?;
                }
                _ => {
                    return Err(format!(
                        "the pickle has the instruction {code:#04x}, which tensors do not need"
                    ));
                }
            }
        }
    }

    fn append(&mut self, many: bool) -> Result<()> {
        let items = if many { self.pop_to_mark()? } else { vec![self.pop()?] };
        let list = self.top()?;
        match &mut self.values[list as usize] {
            Value::List(list) => list.extend(items),
            _ => return Err("the pickle appends to something that is not a list".into()),
        }
        Ok(())
    }

    fn set_items(&mut self, many: bool) -> Result<()> {
        let items = if many { self.pop_to_mark()? } else { self.pop_count(2)? };
        let pairs = pairs(&items)?;
        let dict = self.top()?;
        match &mut self.values[dict as usize] {
            Value::Dict(dict) => dict.extend(pairs),
            _ => return Err("the pickle sets an entry of something that is not a table".into()),
        }
        Ok(())
    }

    fn stack_global(&mut self) -> Result<()> {
        let (name, module) = (self.pop()?, self.pop()?);
        let (Value::Text(module), Value::Text(name)) = (self.value(module), self.value(name))
        else {
            return Err("the pickle looks up a name that is not a text".into());
        };
        let found = global(module, name)?;
        self.push(Value::Global(found))
    }

    /// Calls a function, of which only three are known.
    fn call(&mut self) -> Result<()> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Value::Tuple(arguments) = self.value(arguments) else {
            return Err("the pickle calls a function without a list of arguments".into());
        };
        let made = match *self.value(function) {
            Value::Global(Global::OrderedDict) if arguments.is_empty() => Value::Dict(Vec::new()),
            Value::Global(Global::RebuildTensor) => Value::Tensor(self.view(arguments)?.into()),
            Value::Global(Global::RebuildParameter) => {
                match arguments.first().map(|tensor| self.value(*tensor)) {
                    Some(Value::Tensor(view)) => Value::Tensor(view.clone()),
                    _ => return Err("a parameter in the pickle is not a tensor".into()),
                }
            }
            _ => return Err("the pickle calls something that does not make tensors".into()),
        };
        self.push(made)
    }

    /// Attributes of a table, such as PyTorch's `_metadata`, say nothing about its tensors.
    fn set_state(&mut self) -> Result<()> {
        self.pop()?;
        let object = self.top()?;
        match self.value(object) {
            Value::Dict(_) => Ok(()),
            _ => Err("the pickle sets the state of something that is not a table".into()),
        }
    }

    /// A storage: `("storage", type, key, device, count)`. Before version 1.6 another field
    /// followed, with which the first versions of PyTorch made one storage a part of another.
    fn persistent(&mut self) -> Result<()> {
        let odd = || "the pickle refers to something that is not a storage".to_owned();
        let id = self.pop()?;
        let Value::Tuple(fields) = self.value(id) else { return Err(odd()) };
        let (fields, part) = match fields[..] {
            [ref fields @ .., part] if fields.len() == 5 => (fields, part),
            _ => (&fields[..], NOTHING),
        };
        if !matches!(self.value(part), Value::Nothing) {
            return Err(
                "a storage in the pickle is a part of another one, which is not read".into()
            );
        }
        let [tag, kind, key, _, count] = fields[..] else { return Err(odd()) };
        let storage = match (self.value(tag), self.value(kind), self.value(key), self.value(count))
        {
            (
                Value::Text(tag),
                Value::Global(Global::StorageOf(kind)),
                Value::Text(key),
                Value::Whole(count),
            ) if **tag == *"storage" && key.len() <= LONGEST_KEY => Storage {
                key: key.clone(),
                kind: *kind,
                count: usize::try_from(*count).map_err(|_| odd())?,
            },
            _ => return Err(odd()),
        };
        self.push(Value::Storage(storage))
    }

    /// The arguments of `_rebuild_tensor_v2`: storage, offset, shape, strides, and what only
    /// training needs.
    fn view(&self, arguments: &[Id]) -> Result<View> {
        let odd = || "the pickle makes a tensor from something else than a storage".to_owned();
        let [storage, offset, shape, strides, ..] = arguments[..] else { return Err(odd()) };
        let Value::Storage(storage) = self.value(storage) else { return Err(odd()) };
        let view = View {
            storage: storage.clone(),
            offset: self.size(offset)?,
            shape: self.sizes(shape)?,
            strides: self.sizes(strides)?,
        };
        if view.shape.len() != view.strides.len() {
            return Err(odd());
        }
        Ok(view)
    }

    fn size(&self, id: Id) -> Result<usize> {
        match self.value(id) {
            Value::Whole(number) => usize::try_from(*number).ok(),
            _ => None,
        }
        .ok_or_else(|| "a size of a tensor in the pickle is not a positive whole number".into())
    }

    fn sizes(&self, id: Id) -> Result<Vec<usize>> {
        match self.value(id) {
            Value::Tuple(items) if items.len() <= 8 => {
                items.iter().map(|item| self.size(*item)).collect()
            }
            _ => Err("the shape of a tensor in the pickle is not a list of up to 8 sizes".into()),
        }
    }
}

fn pairs(items: &[Id]) -> Result<Vec<(Id, Id)>> {
    match items.as_chunks() {
        (pairs, []) => Ok(pairs.iter().map(|[key, value]| (*key, *value)).collect()),
        _ => Err("the pickle sets a key without a value".into()),
    }
}

/// A whole number of any length in two's complement. Those that no size can have are not kept.
fn long(bytes: &[u8]) -> Value {
    if bytes.len() > 16 {
        return Value::Other;
    }
    let sign = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut whole = [sign; 16];
    whole[..bytes.len()].copy_from_slice(bytes);
    Value::Whole(i128::from_le_bytes(whole))
}

fn global(module: &str, name: &str) -> Result<Global> {
    Ok(match (module, name) {
        ("collections", "OrderedDict") => Global::OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2") => Global::RebuildTensor,
        ("torch._utils", "_rebuild_parameter") => Global::RebuildParameter,
        ("torch", "FloatStorage") => Global::StorageOf(Kind::Float(Number::F32)),
        ("torch", "HalfStorage") => Global::StorageOf(Kind::Float(Number::F16)),
        ("torch", "BFloat16Storage") => Global::StorageOf(Kind::Float(Number::Bf16)),
        ("torch", "DoubleStorage") => Global::StorageOf(Kind::Float(Number::F64)),
        ("torch", "LongStorage") => Global::StorageOf(Kind::Whole(8)),
        ("torch", "IntStorage") => Global::StorageOf(Kind::Whole(4)),
        ("torch", "ShortStorage") => Global::StorageOf(Kind::Whole(2)),
        ("torch", "CharStorage" | "ByteStorage" | "BoolStorage") => {
            Global::StorageOf(Kind::Whole(1))
        }
        _ => {
            return Err(format!(
                "the pickle asks for {:?} of the module {:?}, which does not make tensors; nothing \
                 in the file was run",
                excerpt(name),
                excerpt(module)
            ));
        }
    })
}

#[cfg(test)]
mod tests;
