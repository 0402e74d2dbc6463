use super::*;

fn tensors(mut program: &[u8]) -> Result<Vec<(String, View)>> {
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
