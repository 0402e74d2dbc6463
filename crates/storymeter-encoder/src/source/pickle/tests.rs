use super::*;

fn tensors(mut program: &[u8]) -> Result<Vec<(Arc<str>, Arc<View>)>> {
    load(&mut program)?.tensors()
}

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
fn pickles_in_a_row_are_read_one_after_the_other() {
    let mut row = &b"\x80\x02M\xe9\x03.}X\x01\0\0\0a\x89s.]X\x01\0\0\0ba.more"[..];
    assert_eq!(load(&mut row).unwrap().whole(), Some(1001));
    let table = load(&mut row).unwrap();
    assert_eq!((table.flag("a"), table.flag("b"), table.whole()), (Some(false), None, None));
    assert_eq!(load(&mut row).unwrap().texts(), Some(vec!["b"]));
    assert_eq!(row, b"more");
}

#[test]
fn long_whole_numbers_keep_their_sign() {
    assert!(matches!(long(&[]), Value::Whole(0)));
    assert!(matches!(long(&[0xff]), Value::Whole(-1)));
    assert!(matches!(long(&[0xff, 0]), Value::Whole(255)));
    assert!(matches!(long(&[0; 17]), Value::Other));
}

/// A table with the tensor `t`. Before its end the program goes through `part`, in which slot 0 of
/// the memory holds a text of `length` bytes and slot 1 what describes a storage.
fn with_part(length: usize, part: &[u8]) -> Vec<u8> {
    let mut program = b"\x80\x02}X".to_vec();
    program.extend((length as u32).to_le_bytes());
    program.extend(std::iter::repeat_n(b'k', length));
    program.extend(b"q\x000(X\x07\0\0\0storagectorch\nFloatStorage\nh\0X\x03\0\0\0cpuK\x02tq\x010");
    program.extend(part);
    program
}

/// Repeats an instruction until the program has as many bytes as a file may have.
fn repeated(mut program: Vec<u8>, instruction: &[u8]) -> Vec<u8> {
    while program.len() < 1 << 23 {
        program.extend(instruction);
    }
    program.push(b'.');
    program
}

fn bounded<T>(work: impl FnOnce() -> T) -> T {
    let start = std::time::Instant::now();
    let done = work();
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 10.0, "{seconds} seconds");
    done
}

#[test]
fn a_long_text_that_is_named_again_and_again_is_never_copied() {
    // Storages of one long key: each copied it, and eight megabytes asked for four terabytes.
    let storages = repeated(with_part(1 << 22, b""), b"h\x01Q0");
    let problem = bounded(|| error(&storages));
    assert_eq!(problem, "the pickle refers to something that is not a storage");
    let short = repeated(with_part(200, b""), b"h\x01Q0");
    assert_eq!(bounded(|| error(&short)), "the pickle makes more than 1048576 values");
    // Entries of one long name.
    let rebuild = b"ctorch._utils\n_rebuild_tensor_v2\n(h\x02K\0K\x02\x85K\x01\x85\x89}tRq\x030";
    let storage =
        b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x007X\x03\0\0\0cpuK\x02tQq\x020";
    let mut entries = with_part(1 << 22, storage);
    entries.extend(rebuild);
    let found = bounded(|| tensors(&repeated(entries, b"h\0h\x03s")).unwrap());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0.len(), found[0].1.shape.as_slice()), (1 << 22, &[2][..]));
}

#[test]
fn arguments_that_are_named_again_and_again_are_never_copied() {
    // A tuple of a million fields, of which a call needs the first four.
    let storage =
        b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x007X\x03\0\0\0cpuK\x02tQq\x020";
    let mut program = with_part(1, storage);
    program.extend(b"(h\x02K\0K\x02\x85K\x01\x85");
    program.extend(std::iter::repeat_n(b'N', 1 << 20));
    program.extend(b"tq\x040ctorch._utils\n_rebuild_tensor_v2\nq\x030");
    let problem = bounded(|| error(&repeated(program, b"h\x03h\x04R0")));
    assert_eq!(problem, "the pickle makes more than 1048576 values");
}

#[test]
fn the_number_of_values_is_limited() {
    assert_eq!(
        bounded(|| error(&repeated(Vec::new(), b"]0"))),
        "the pickle makes more than 1048576 values"
    );
    // Values that take no room are not counted.
    assert_eq!(tensors(&repeated(b"}".to_vec(), b"N0")).unwrap(), []);
}
