//! Web addresses. They have a scheme, a user, a host, a port and a path, of which only the host is
//! required.

use super::affixes::is_lower;

/// Whether the whole word is an address such as `example.com`, `https://user@host.org:80/path` or
/// `8.8.8.8`.
pub(super) fn matches(word: &str) -> bool {
    if !word.contains('.') {
        return false;
    }
    let after_scheme = word.find("://").filter(|&at| is_scheme(&word[..at])).map(|at| at + 3);
    [Some(0), after_scheme].into_iter().flatten().any(|start| {
        let rest = &word[start..];
        // The user may contain an @, so the host may begin after any of them.
        let after_user = rest.match_indices('@').filter(|&(at, _)| at > 0).map(|(at, _)| at + 1);
        std::iter::once(0).chain(after_user).any(|at| is_host_and_rest(&rest[at..]))
    })
}

fn is_scheme(text: &str) -> bool {
    text.chars().nth(1).is_some()
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '+' | '-' | '.'))
}

fn is_host_and_rest(text: &str) -> bool {
    if ip_length(text).is_some_and(|length| is_port_and_path(&text[length..])) {
        return true;
    }
    let mut start = 0;
    // A host has no @ in it. Stopping there keeps the time linear for a word with many of them.
    while let Some(dot) = text[start..].find(['.', '@']) {
        let label = &text[start..start + dot];
        if text.as_bytes()[start + dot] == b'@' || !is_label(label) {
            return false;
        }
        start += dot + 1;
        let domain = text[start..].trim_start_matches(is_lower);
        let length = text[start..text.len() - domain.len()].chars().count();
        if (2..=63).contains(&length) && is_port_and_path(domain) {
            return true;
        }
    }
    false
}

fn is_label(label: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || ('\u{a1}'..='\u{ffff}').contains(&c);
    label.starts_with(inner)
        && label.ends_with(inner)
        && label.chars().all(|c| inner(c) || c == '_' || c == '-')
        && label.chars().count() <= 64
}

fn is_port_and_path(text: &str) -> bool {
    let is_path = |text: &str| text.is_empty() || text.starts_with(['/', '?', '#']);
    let with_port = |text: &str| {
        let rest = text.strip_prefix(':')?;
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        Some((2..=5).contains(&digits) && is_path(&rest[digits..]))
    };
    is_path(text) || with_port(text).unwrap_or(false)
}

/// The length of the public IPv4 address with which a text begins.
fn ip_length(text: &str) -> Option<usize> {
    let length = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let parts: Vec<&str> = text[..length].split('.').collect();
    let [a, b, c, d] = parts.as_slice() else { return None };
    let octet = |part: &str| part.parse::<u16>().ok().filter(|_| part.len() <= 3);
    let (first, second, third, last) = (octet(a)?, octet(b)?, octet(c)?, octet(d)?);
    let plain = !a.starts_with('0') && !d.starts_with('0');
    let private = matches!(first, 10 | 127)
        || matches!((first, second), (169, 254) | (192, 168) | (172, 16..=31));
    let fits =
        (1..=223).contains(&first) && second <= 255 && third <= 255 && (1..=254).contains(&last);
    (plain && fits && !private).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn addresses_need_a_host_with_a_lower_case_domain() {
        for word in [
            "example.com",
            "the.end",
            "https://a.b.org:8080/x?y#z",
            "me@mail.net",
            "8.8.8.8",
            "a-b_c.de/F",
        ] {
            assert!(matches(word), "{word}");
        }
        for word in ["end.The", "3.14", "a.b", "192.168.1.1", "-a.com", "word", ".com", "x.com:1"] {
            assert!(!matches(word), "{word}");
        }
    }
}
