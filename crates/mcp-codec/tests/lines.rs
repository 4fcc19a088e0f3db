//! Behaviour of the line decoder, one pitfall at a time.

use mcp_codec::{Line, LineDecoder};
use proptest::prelude::*;

fn message(text: impl AsRef<[u8]>) -> Line {
    Line::Message(text.as_ref().to_vec().into())
}

/// All lines of an input that comes in the given pieces.
fn lines<'a>(max_bytes: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Line> {
    let mut decoder = LineDecoder::new(max_bytes);
    let mut lines = Vec::new();
    for piece in pieces {
        decoder.buffer().extend_from_slice(piece);
        while let Some(line) = decoder.next_line() {
            lines.push(line);
        }
    }
    while let Some(line) = decoder.finish() {
        lines.push(line);
    }
    lines
}

#[test]
fn the_lessons_chunks_give_its_lines() {
    let cafe = "{\"jsonrpc\":\"2.0\",\"method\":\"note\",\"params\":{\"name\":\"café\"}}\n".as_bytes();
    let chunks: [(&[u8], &[&str]); 5] = [
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"res", &[]),
        (
            b"ult\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\r\n",
            &[
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
            ],
        ),
        (&cafe[..55], &[]),
        (
            &cafe[55..],
            &[r#"{"jsonrpc":"2.0","method":"note","params":{"name":"café"}}"#],
        ),
        (b"Server started\n", &["Server started"]),
    ];
    let mut decoder = LineDecoder::default();
    for (chunk, expected) in chunks {
        decoder.buffer().extend_from_slice(chunk);
        for line in expected {
            assert_eq!(decoder.next_line(), Some(message(line)));
        }
        assert_eq!(decoder.next_line(), None);
    }
    let report = lines(64, [[0; 100].as_slice()])
        .remove(0)
        .into_message()
        .unwrap_err();
    assert_eq!(report.to_string(), "buffer exceeded 64 bytes");
    assert_eq!((report.limit, report.bytes), (64, 100));
}

#[test]
fn p001_a_line_that_is_no_json_is_a_line_as_any_other() {
    let input = b"server v1.2 ready\n{}\n".as_slice();
    assert_eq!(lines(64, [input]), [message("server v1.2 ready"), message("{}")]);
}

#[test]
fn p004_one_leading_byte_order_mark_is_stripped_from_each_line() {
    let input = "\u{feff}{}\n\u{feff}\u{feff}[]\r\n\u{feff}\n".as_bytes();
    assert_eq!(lines(64, [input]), [message("{}"), message("\u{feff}[]")]);
}

#[test]
fn p005_both_line_ends_are_taken_and_one_carriage_return_is_stripped() {
    let input = b"{\"a\":\r1}\r\n{}\r\r\n{}\n{}\r".as_slice();
    assert_eq!(
        lines(64, [input]),
        [
            message("{\"a\":\r1}"),
            message("{}\r"),
            message("{}"),
            message("{}")
        ]
    );
}

#[test]
fn p006_blank_lines_are_skipped() {
    let input = b"\n\r\n   \n\t\r\n{}\n  ".as_slice();
    assert_eq!(lines(64, [input]), [message("{}")]);
}

#[test]
fn p007_one_byte_at_a_time_gives_the_same_line() {
    let input = "{\"text\":\"é—🙂\"}\n".as_bytes();
    assert_eq!(lines(64, input.chunks(1)), [message("{\"text\":\"é—🙂\"}")]);
}

#[test]
fn p008_invalid_utf8_is_left_to_the_reader_of_that_line() {
    let input = b"{\"method\":\"\xff\"}\n{}\n".as_slice();
    assert_eq!(
        lines(64, [input]),
        [message(b"{\"method\":\"\xff\"}"), message("{}")]
    );
}

#[test]
fn p009_an_endless_line_is_dropped_in_bounded_memory_and_the_next_is_read() {
    let max = 64 * 1024;
    let mut decoder = LineDecoder::new(max);
    let piece = [b'x'; 4096];
    for _ in 0..4096 {
        let buffer = decoder.buffer();
        buffer.extend_from_slice(&piece);
        assert!(buffer.capacity() <= 4 * max, "{} bytes held", buffer.capacity());
        assert_eq!(decoder.next_line(), None);
    }
    decoder.buffer().extend_from_slice(b"\n{}\n");
    let bytes = 4096 * 4096;
    assert_eq!(decoder.next_line(), Some(Line::Oversized { bytes, limit: max }));
    assert_eq!(decoder.next_line(), Some(message("{}")));
}

#[test]
fn p009_the_limit_is_exact_and_line_ends_do_not_count() {
    let oversized = |bytes| Line::Oversized { bytes, limit: 4 };
    let input = "1234\n1234\r\n\u{feff}1234\r\n12345\n12345\r\n      \n".as_bytes();
    assert_eq!(
        lines(4, [input]),
        [
            message("1234"),
            message("1234"),
            message("1234"),
            oversized(5),
            oversized(6),
            oversized(6)
        ]
    );
}

#[test]
fn p010_the_limit_holds_for_each_message_alone() {
    let input = b"123456\n123456\n".as_slice();
    assert_eq!(lines(10, [input]), [message("123456"), message("123456")]);
}

#[test]
fn p011_a_large_line_is_copied_a_bounded_number_of_times_and_its_memory_given_back() {
    let size = 32 * 1024 * 1024;
    let piece = [b'x'; 4096];
    let mut decoder = LineDecoder::new(size);
    let mut moved = 0;
    let mut place = std::ptr::null();
    for _ in 0..size / piece.len() {
        let buffer = decoder.buffer();
        if buffer.as_ptr() != place {
            moved += buffer.len();
            place = buffer.as_ptr();
        }
        buffer.extend_from_slice(&piece);
        assert_eq!(decoder.next_line(), None);
    }
    assert!(moved <= 2 * size, "{moved} bytes moved");
    decoder.buffer().extend_from_slice(b"\n{}");
    let line = decoder.next_line().unwrap().into_message().unwrap();
    assert_eq!(line.len(), size);
    assert_eq!(line.as_ptr(), place, "the line was copied");
    drop(line);
    assert!(decoder.buffer().capacity() <= 64 * 1024);
    assert_eq!(decoder.finish(), Some(message("{}")));
}

proptest! {
    #[test]
    fn any_cut_of_any_input_gives_the_same_lines(
        input in proptest::collection::vec(
            prop_oneof![
                4 => Just(b"a".to_vec()),
                2 => Just(b"\n".to_vec()),
                1 => Just(b"\r".to_vec()),
                1 => Just(b" ".to_vec()),
                1 => Just("\u{feff}".as_bytes().to_vec()),
                1 => any::<u8>().prop_map(|byte| vec![byte]),
                1 => (0..20_usize).prop_map(|length| vec![b'x'; length]),
            ],
            0..60,
        ),
        cuts in proptest::collection::vec(1..12_usize, 1..20),
        max_bytes in 0..16_usize,
    ) {
        let input = input.concat();
        let mut pieces = Vec::new();
        let mut rest = input.as_slice();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        let whole = lines(max_bytes, [input.as_slice()]);
        prop_assert_eq!(&lines(max_bytes, pieces), &whole);

        // And they are the lines that splitting the whole input would give.
        let mut expected = Vec::new();
        for line in input.split(|&byte| byte == b'\n') {
            let bytes = line.len() as u64;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            if line.len() > max_bytes {
                expected.push(Line::Oversized { bytes, limit: max_bytes });
            } else if !line.trim_ascii().is_empty() {
                expected.push(message(line));
            }
        }
        prop_assert_eq!(&whole, &expected);
    }
}
