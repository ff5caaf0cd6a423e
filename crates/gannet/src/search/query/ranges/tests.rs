use super::*;

fn ends(lower: &str, upper: &str) -> Ends {
    let end = |text: &str| -> Bound<Vec<u8>> {
        match text.split_at_checked(1) {
            Some(("=", text)) => Bound::Included(text.into()),
            Some(("<", text)) => Bound::Excluded(text.into()),
            _ => Bound::Unbounded,
        }
    };
    (end(lower), end(upper))
}

/// The `terms`, in their order, that are in a range of them; or the error.
fn found(lower: &str, upper: &str, terms: &[&'static str]) -> Result<Vec<&'static str>> {
    let mut sorted = terms.to_vec();
    sorted.sort_unstable();
    let settled = settle(
        &ends(lower, upper),
        "f",
        sorted[0],
        sorted[sorted.len() - 1],
    )?;
    let (from, to) = &settled.ends;
    let is_in = |term: &[u8]| {
        let is_above = match from {
            Bound::Included(from) => term >= from.as_slice(),
            Bound::Excluded(from) => term > from.as_slice(),
            Bound::Unbounded => true,
        };
        let is_below = match to {
            Bound::Included(to) => term <= to.as_slice(),
            Bound::Excluded(to) => term < to.as_slice(),
            Bound::Unbounded => true,
        };
        is_above && is_below
    };
    if let Some(check) = &settled.check {
        let looked_at = terms.iter().map(|term| term.as_bytes());
        let mut looked_at = looked_at.filter(|term| check.is_of_field || is_in(term));
        looked_at.try_for_each(|term| check.check(term))?;
    }
    let found = terms.iter().filter(|term| is_in(term.as_bytes()));
    Ok(found.copied().collect())
}

fn check(lower: &str, upper: &str, terms: &[&'static str], expected: &[&str]) {
    let found = found(lower, upper, terms);
    assert_eq!(
        found.unwrap(),
        expected,
        "[{lower} TO {upper}] of {terms:?}"
    );
}

fn fails(lower: &str, upper: &str, terms: &[&'static str], parts: &[&str]) {
    let error = found(lower, upper, terms).unwrap_err().to_string();
    let is_told = parts.iter().all(|part| error.contains(part));
    assert!(
        is_told && error.len() < 400,
        "[{lower} TO {upper}] of {terms:?}: {error}"
    );
}

const TIMES: [&str; 5] = [
    "2022-12-31T23:59:00Z",
    "2023-01-01",
    "2023-05-17T09:00:30.250Z",
    "2023-12-31T23:59:59Z",
    "2024-01-01T00:00:00Z",
];

#[test]
fn an_end_that_is_a_date_stands_for_all_that_it_begins() {
    check("=2023-01-01", "=2023-12-31", &TIMES, &TIMES[1..4]);
    check("=2023", "=2023", &TIMES, &TIMES[1..4]);
    check("=2023-05", "=2023-05", &TIMES, &TIMES[2..3]);
    check("=2022-12-31", "<2023-12-31", &TIMES, &TIMES[..3]);
    check("<2022-12-31", "", &TIMES, &TIMES[1..]);
    check("<2022", "<2024", &TIMES, &TIMES[1..4]);
    check("", "=2023-12-31", &TIMES, &TIMES[..4]);
    check("", "=2023-05-17T09:00", &TIMES, &TIMES[..3]);
    check("<2023-05-17T09:00", "", &TIMES, &TIMES[3..]);
    check(
        "=2023-05-17T09:00:30Z",
        "=2023-05-17T09:00:30Z",
        &TIMES,
        &TIMES[2..3],
    );
    check("=2023-05-17T12:00", "=2023-05-17", &TIMES, &[]);
    let days = ["2023-05-16", "2023-05-17", "2023-05-18"];
    check("<2023-05-16", "=2023-05-17", &days, &days[1..2]);
    check(
        "=2023-05-17",
        "",
        &["", "2023-05-17 08:00"],
        &["2023-05-17 08:00"],
    );
}

#[test]
fn an_end_in_another_form_than_the_dates_is_rejected_and_the_form_is_named() {
    let others = [
        "2023/05/17",
        "12/31/2023",
        "17.05.2023",
        "20230517",
        "1684281600",
        "1684281600000",
        "2023-5-7",
        "2023-13-01",
        "2023-05-17 09:00",
        "2023-05-17T09:00:00+02:00",
        "now",
        "yesterday",
    ];
    for other in others {
        for (lower, upper) in [(format!("<{other}"), ""), (String::new(), other)] {
            let upper = if upper.is_empty() {
                String::new()
            } else {
                format!("={upper}")
            };
            fails(
                &lower,
                &upper,
                &TIMES,
                &["\"f\"", "2022-12-31T23:59:00Z", other],
            );
        }
    }
    // Values that are no dates stand among them.
    fails(
        "<2023/05/17",
        "",
        &["2023-05-17", "unknown"],
        &["2023-05-17"],
    );
    check("<m", "", &["2023-05-17", "unknown"], &["unknown"]);
    // The values are written otherwise.
    for (low, high) in [
        ("2023/01/05", "2023/12/05"),
        ("01/05/2023", "12/05/2022"),
        ("1684281600", "1684281699"),
    ] {
        fails("=2023-05-17", "", &[low, high], &["\"2023-05-17\""]);
    }
    check(
        "<2023/01/06",
        "",
        &["2023/01/05", "2023/12/05"],
        &["2023/12/05"],
    );
    for end in ["01/06/2023", "31.12.2023"] {
        fails(
            &format!("={end}"),
            "",
            &["01/05/2023", "12/05/2022"],
            &[end],
        );
    }
}

#[test]
fn numbers_are_compared_only_where_bytes_have_their_order() {
    let prices = ["5", "19.99", "100", "9", "-3"];
    for (lower, upper) in [
        ("=10", "=50"),
        ("=5", ""),
        ("", "<50"),
        ("=5", "=9"),
        ("=10.00", "=50.00"),
    ] {
        fails(lower, upper, &prices, &["9 is above 15", "\"f\""]);
    }
    let years = ["1999", "2005", "2023"];
    check("=2000", "=2023", &years, &years[1..]);
    check("<1999", "", &years, &years[1..]);
    check(
        "=0005",
        "<0100",
        &["0004", "0005", "0099", "0100"],
        &["0005", "0099"],
    );
    check(
        "=05.00",
        "",
        &["04.99", "05.00", "10.50"],
        &["05.00", "10.50"],
    );
    // Between the least and the greatest.
    fails("=200", "", &["100", "1000", "300"], &["\"1000\""]);
    fails("", "=300", &["100", "50", "999"], &["\"50\""]);
    fails("=400", "=600", &["100", "50", "999"], &["\"50\""]);
    check("=100", "=300", &["100", "50", "999"], &["100"]);
    for (lower, upper) in [
        ("=-5", "=-1"),
        ("=1e3", "=2e3"),
        ("=9.99", "=12.9"),
        ("=19,99", "=50,00"),
    ] {
        fails(lower, upper, &["100", "5,00", "9"], &["9 is above 15"]);
    }
    fails("=-5", "", &["-5", "-9"], &["-5"]);
    fails(
        "=10.0.0.1",
        "=10.0.0.9",
        &["10.0.0.1", "10.0.0.12"],
        &["10.0.0.12"],
    );
    check("=b", "<d", &["a1", "b2", "c", "d"], &["b2", "c"]);
    check("=1000", "", &["0", "2109", "praly"], &["2109", "praly"]);
    check("=10", "<b", &["9", "100", "a"], &["9", "100", "a"]);
    check("=A10", "", &["A1", "A10", "B2"], &["A10", "B2"]);
}

#[test]
fn a_date_is_found_with_what_goes_on_from_it() {
    let goes_on = |date: &str, term: &str| DateSpan::of(date).unwrap().goes_on(term.as_bytes());
    for (date, yes, no) in [
        ("2023-05-17", "2023-05-17T09:00:00", "2023-05-17"),
        ("2023-05-17", "2023-05-17 09:00", "2023-05-17 first"),
        ("2023-05-17", "2023-05-17T23:59:59.5+02:00", "2023-05-170"),
        ("2023-05", "2023-05-17", "2023-05-170"),
        ("2023", "2023-05-17T09:00", "2023-0005"),
        (
            "2023-05-17T09:00",
            "2023-05-17T09:00:30Z",
            "2023-05-17T09:01",
        ),
    ] {
        assert!(
            goes_on(date, yes) && !goes_on(date, no),
            "{date}: {yes}, {no}"
        );
    }
    for no in [
        "",
        "5",
        "20230517",
        "2023-5-7",
        "2023-13-01",
        "2023-05-32",
        "2023-05-17T",
        "x2023",
    ] {
        assert!(DateSpan::of(no).is_none(), "{no}");
    }
}

#[test]
fn what_is_wrong_in_any_field_is_told_where_it_is_written() {
    let check = |lower: &str, upper: &str| {
        let text = |end: Bound<Vec<u8>>| end.map(|end| String::from_utf8(end).unwrap());
        let (lower, upper) = ends(lower, upper);
        check_written(&text(lower), &text(upper)).map_err(|(what, _)| what)
    };
    for (lower, upper) in [
        ("=a", "=b"),
        ("=a", "=a"),
        ("", "=a"),
        ("=2023-05-17T09:00", "=2023-05-17"),
        ("=2023-05", "=2023"),
        ("=5", "=10"),
        ("=now", "=a"),
        ("=now-7d", "=now"),
        ("=2023-05-17||/M", ""),
    ] {
        assert_eq!(check(lower, upper), Ok(()), "[{lower} TO {upper}]");
    }
    for (lower, upper) in [
        ("=b", "=a"),
        ("<a", "=a"),
        ("=2023-05", "<2023"),
        ("=50", "=10"),
        ("=10", "=5"),
    ] {
        assert_eq!(
            check(lower, upper),
            Err("a range without values"),
            "[{lower} TO {upper}]"
        );
    }
}

/// Whole strings are compared by their bytes, in which some ends mean nothing.
#[test]
fn what_whole_strings_cannot_be_asked_is_told() {
    let check = |lower: &str, upper: &str| {
        let error = check_words(&ends(lower, upper)).map_err(|error| error.to_string());
        error.err().unwrap_or_default()
    };
    assert!(check("=5", "=10").contains("numbers of different lengths"));
    for (lower, upper) in [("=now-7d", "=now"), ("", "=now/d"), ("=2023-05-17||/M", "")] {
        let told = check(lower, upper);
        assert!(told.contains("relative to now"), "{lower} {upper}: {told}");
    }
    for (lower, upper) in [("=the", "=is"), ("=05", "=10"), ("=now", "=z"), ("", "")] {
        assert_eq!(check(lower, upper), "", "{lower} {upper}");
    }
}
