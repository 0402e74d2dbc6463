//! Reads the pickles that `torch.save` writes, without running anything.
//!
//! A pickle is a small program for a machine with a stack. Python's machine may call any function
//! of any module, so that opening a foreign file can do anything. This one knows only the few names
//! that make up tensors and the instructions that PyTorch writes, and refuses everything else.

use super::content::Number;
use crate::error::excerpt;
use std::collections::HashMap;

/// What is wrong with a pickle.
type Result<T> = std::result::Result<T, String>;

/// The place of a value in the list of all values. A program that repeats itself cannot make more
/// values than it has instructions.
type Id = u32;

/// What the program has made so far.
#[derive(Clone, Debug)]
enum Value {
    /// Something that no tensor needs, such as a text in bytes.
    Other,
    Nothing,
    Whole(i64),
    Text(String),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Global(Global),
    Storage(Storage),
    Tensor(View),
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
    /// Whole numbers and truth values, which no weights are.
    Whole,
}

/// A list of numbers in the archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Storage {
    /// The name of its file, after `data/`.
    pub(super) key: String,
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

/// The tensors of a pickled table of names and tensors, in the order of the file.
///
/// # Errors
/// If the pickle is cut off or damaged, needs anything that does not make tensors, or is no table.
pub(super) fn tensors(program: &[u8]) -> Result<Vec<(String, View)>> {
    let mut machine = Machine::new(program);
    let top = machine.run()?;
    let Value::Dict(entries) = machine.value(top) else {
        return Err("the pickle is not a table of names and tensors".into());
    };
    let mut found = Vec::new();
    for (key, value) in entries {
        if let (Value::Text(name), Value::Tensor(view)) =
            (machine.value(*key), machine.value(*value))
        {
            found.push((name.clone(), view.clone()));
        }
    }
    Ok(found)
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

impl<'a> Machine<'a> {
    fn new(program: &'a [u8]) -> Machine<'a> {
        Machine {
            program,
            values: vec![Value::Nothing, Value::Other, Value::Tuple(Vec::new())],
            stack: Vec::new(),
            marks: Vec::new(),
            memory: HashMap::new(),
        }
    }

    fn value(&self, id: Id) -> &Value {
        &self.values[id as usize]
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, after) = self.program.split_at_checked(count).ok_or("the pickle is cut off")?;
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
        let line = self.take(end.ok_or("the pickle is cut off")?)?;
        self.take(1)?;
        Ok(String::from_utf8_lossy(line).into_owned())
    }

    fn push(&mut self, value: Value) {
        self.values.push(value);
        self.stack.push(self.values.len() as Id - 1);
    }

    fn push_text(&mut self, bytes: &[u8]) {
        self.push(Value::Text(String::from_utf8_lossy(bytes).into_owned()));
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
                // NEWTRUE and NEWFALSE
                0x88 | 0x89 => self.stack.push(OTHER),
                b'J' => {
                    let number = self.number(4)? as u32;
                    self.push(Value::Whole(number.cast_signed().into()));
                }
                b'K' | b'M' => {
                    let number = self.number(if code == b'K' { 1 } else { 2 })?;
                    self.push(Value::Whole(number as i64));
                }
                // LONG1 and LONG4
                0x8a | 0x8b => {
                    let bytes = self.counted(if code == 0x8a { 1 } else { 4 })?;
                    self.push(long(bytes));
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
                    self.push_text(text);
                }
                // The strings of Python 2.
                b'T' | b'U' => {
                    let text = self.counted(if code == b'T' { 4 } else { 1 })?;
                    self.push_text(text);
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
                    self.push(Value::Tuple(items));
                }
                0x85..=0x87 => {
                    let items = self.pop_count(usize::from(code - 0x84))?;
                    self.push(Value::Tuple(items));
                }
                b']' => self.push(Value::List(Vec::new())),
                b'l' => {
                    let items = self.pop_to_mark()?;
                    self.push(Value::List(items));
                }
                b'a' | b'e' => self.append(code == b'e')?,
                b'}' => self.push(Value::Dict(Vec::new())),
                b'd' => {
                    let items = self.pop_to_mark()?;
                    let pairs = pairs(&items)?;
                    self.push(Value::Dict(pairs));
                }
                b's' | b'u' => self.set_items(code == b'u')?,
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.push(Value::Global(global(&module, &name)?));
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
        self.push(Value::Global(found));
        Ok(())
    }

    /// Calls a function, of which only three are known.
    fn call(&mut self) -> Result<()> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Value::Tuple(arguments) = self.value(arguments).clone() else {
            return Err("the pickle calls a function without a list of arguments".into());
        };
        let made = match *self.value(function) {
            Value::Global(Global::OrderedDict) if arguments.is_empty() => Value::Dict(Vec::new()),
            Value::Global(Global::RebuildTensor) => Value::Tensor(self.view(&arguments)?),
            Value::Global(Global::RebuildParameter) => {
                match arguments.first().map(|tensor| self.value(*tensor)) {
                    Some(Value::Tensor(view)) => Value::Tensor(view.clone()),
                    _ => return Err("a parameter in the pickle is not a tensor".into()),
                }
            }
            _ => return Err("the pickle calls something that does not make tensors".into()),
        };
        self.push(made);
        Ok(())
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

    /// A storage: `("storage", type, key, device, count)`.
    fn persistent(&mut self) -> Result<()> {
        let odd = || "the pickle refers to something that is not a storage".to_owned();
        let id = self.pop()?;
        let Value::Tuple(fields) = self.value(id) else { return Err(odd()) };
        let [tag, kind, key, _, count] = fields[..] else { return Err(odd()) };
        let storage = match (self.value(tag), self.value(kind), self.value(key), self.value(count))
        {
            (
                Value::Text(tag),
                Value::Global(Global::StorageOf(kind)),
                Value::Text(key),
                Value::Whole(count),
            ) if tag == "storage" => Storage {
                key: key.clone(),
                kind: *kind,
                count: usize::try_from(*count).map_err(|_| odd())?,
            },
            _ => return Err(odd()),
        };
        self.push(Value::Storage(storage));
        Ok(())
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
    if bytes.len() > 8 {
        return Value::Other;
    }
    let sign = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut whole = [sign; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    Value::Whole(i64::from_le_bytes(whole))
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
        (
            "torch",
            "LongStorage" | "IntStorage" | "ShortStorage" | "CharStorage" | "ByteStorage"
            | "BoolStorage",
        ) => Global::StorageOf(Kind::Whole),
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
mod tests {
    use super::*;

    fn error(program: &[u8]) -> String {
        tensors(program).expect_err("this pickle is bad")
    }

    #[test]
    fn a_program_that_would_run_a_command_is_refused_by_name() {
        // pickle.dumps of an object whose __reduce__ gives (os.system, ("true",)).
        assert_eq!(
            error(b"\x80\x02cposix\nsystem\nq\x00X\x04\x00\x00\x00trueq\x01\x85q\x02Rq\x03."),
            "the pickle asks for \"system\" of the module \"posix\", which does not make tensors; \
             nothing in the file was run"
        );
        // The same in protocol 4.
        let error = error(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93.");
        assert!(error.starts_with("the pickle asks for \"eval\" of the module \"builtins\""));
    }

    #[test]
    fn names_in_errors_are_cut() {
        let long = "x".repeat(100_000);
        let error = error(format!("c{long}\n{long}\n.").as_bytes());
        assert!(error.len() < 400, "{}", error.len());
    }

    #[test]
    fn broken_programs_are_errors() {
        for (program, expected) in [
            (&b""[..], "the pickle is cut off"),
            (b"\x80\x02", "the pickle is cut off"),
            (b".", "the pickle takes a value that it has not made"),
            (b"(.", "the pickle takes a value that it has not made"),
            (b"K\x01.", "the pickle is not a table of names and tensors"),
            (b"}X\xff\xff\xff\xffa.", "the pickle is cut off"),
            (b"}h\x05.", "the pickle recalls what it has not stored"),
            (b"}(Nu.", "the pickle sets a key without a value"),
            (b"N(NNu.", "the pickle sets an entry of something that is not a table"),
            (b"NNa.", "the pickle appends to something that is not a list"),
            (b"t.", "the pickle lacks a mark"),
            (b"NQ.", "the pickle refers to something that is not a storage"),
            (b"N)R.", "the pickle calls something that does not make tensors"),
            (b"i", "the pickle has the instruction 0x69, which tensors do not need"),
            (
                b"ctorch._utils\n_rebuild_tensor_v2\n(NK\x00))tR.",
                "the pickle makes a tensor from something else than a storage",
            ),
        ] {
            assert_eq!(error(program), expected, "{program:?}");
        }
    }

    #[test]
    fn a_table_that_holds_itself_is_no_tensor() {
        assert_eq!(tensors(b"}q\x00X\x01\x00\x00\x00ah\x00s.").unwrap(), []);
    }

    #[test]
    fn long_whole_numbers_keep_their_sign() {
        assert!(matches!(long(&[]), Value::Whole(0)));
        assert!(matches!(long(&[0xff]), Value::Whole(-1)));
        assert!(matches!(long(&[0xff, 0]), Value::Whole(255)));
        assert!(matches!(long(&[0; 9]), Value::Other));
    }
}
