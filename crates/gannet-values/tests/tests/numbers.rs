//! The order of numbers, their keys and ranges, against whole numbers of 128 bits.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};
use std::ops::Bound;

use gannet_values::{
    DATE_MAX_MS, Number, NumberRange, Value, ValueType, double_of_key, key_of_double, key_of_long,
    long_of_key,
};
use proptest::prelude::*;

const ENDS: [f64; 16] = [
    0.0,
    -0.0,
    5.0,
    0.5,
    -0.5,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    9_223_372_036_854_775_808.0,
    -9_223_372_036_854_775_808.0,
    9_223_372_036_854_774_784.0,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

fn longs() -> impl Strategy<Value = i64> {
    let near = |at: i64| (-3..=3_i64).prop_map(move |by| at.saturating_add(by));
    prop_oneof![
        any::<i64>(),
        near(0),
        near(1 << 53),
        near(-(1 << 53)),
        near(i64::MAX),
        near(i64::MIN),
        -20..20_i64,
    ]
}

fn doubles() -> impl Strategy<Value = f64> {
    let ends = prop::sample::select(&ENDS[..]);
    let near = (ends, 0..3).prop_map(|(end, step)| match step {
        0 => end,
        1 => end.next_up(),
        _ => end.next_down(),
    });
    let halves = (-40..40_i32).prop_map(|halves| f64::from(halves) / 2.0);
    let any = any::<f64>().prop_filter("a number", |double| !double.is_nan());
    prop_oneof![any, near, halves, longs().prop_map(|long| long as f64)]
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        longs().prop_map(Number::Long),
        doubles().prop_map(Number::Double)
    ]
}

/// The exact order of a long and a double, by integers of 128 bits: the double is a whole part
/// and something behind it, which only decides if the whole parts are equal.
fn compared(long: i64, double: f64) -> Ordering {
    let far = 2.0_f64.powi(100);
    if double >= far {
        return Ordering::Less;
    }
    if double <= -far {
        return Ordering::Greater;
    }
    let floor = double.floor();
    let by_floor = i128::from(long).cmp(&(floor as i128));
    match by_floor {
        Ordering::Equal if floor < double => Ordering::Less,
        other => other,
    }
}

fn bounds() -> impl Strategy<Value = Bound<Number>> {
    prop_oneof![
        numbers().prop_map(Bound::Included),
        numbers().prop_map(Bound::Excluded),
        Just(Bound::Unbounded),
    ]
}

fn values() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        longs().prop_map(Value::Long),
        longs().prop_map(Value::Date),
        doubles().prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
    ]
}

fn number_of(value: &Value<'_>) -> Number {
    match value {
        Value::Long(long) | Value::Date(long) => Number::Long(*long),
        Value::Double(double) => Number::Double(*double),
        Value::Boolean(boolean) => Number::Long(i64::from(*boolean)),
        Value::Keyword(_) | Value::Ip(_) => unreachable!("numbers alone are generated"),
    }
}

/// Values beside a number, where ranges are most likely wrong.
fn neighbours(number: Number) -> Vec<Value<'static>> {
    let double = number.nearest_double();
    let long = match number {
        Number::Long(long) => long,
        Number::Double(double) => double as i64,
    };
    let longs = (-2..=2).map(|by| Value::Long(long.saturating_add(by)));
    let doubles = [double, double.next_up(), double.next_down()];
    longs.chain(doubles.map(Value::Double)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    /// Longs and doubles are compared as the numbers that they are.
    #[test]
    fn a_long_and_a_double_are_compared_exactly(long in longs(), double in doubles()) {
        let (one, other) = (Number::Long(long), Number::Double(double));
        prop_assert_eq!(one.cmp(&other), compared(long, double));
        prop_assert_eq!(other.cmp(&one), compared(long, double).reverse());
    }

    /// The order is total, and equal numbers have equal hashes.
    #[test]
    fn the_order_of_numbers_is_total(a in numbers(), b in numbers(), c in numbers()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
        let state = RandomState::new();
        if a == b {
            prop_assert_eq!(state.hash_one(a), state.hash_one(b));
        }
        if let Some(long) = a.exact_long() {
            prop_assert_eq!(Number::Long(long), a);
        }
        if let Some(double) = a.exact_double() {
            prop_assert_eq!(Number::Double(double), a);
        }
    }

    /// Keys of one type are ordered as its values are, and give them back.
    #[test]
    fn keys_are_ordered_as_values(a in longs(), b in longs(), x in doubles(), y in doubles()) {
        prop_assert_eq!(key_of_long(a).cmp(&key_of_long(b)), a.cmp(&b));
        prop_assert_eq!(long_of_key(key_of_long(a)), a);
        let keys = [x, y].map(|double| key_of_double(double).expect("it is a number"));
        prop_assert_eq!(Some(keys[0].cmp(&keys[1])), x.partial_cmp(&y));
        prop_assert_eq!(double_of_key(keys[0]), x);
        prop_assert!(double_of_key(keys[0]).to_bits() != (-0.0_f64).to_bits());
    }

    /// The keys of a range are those of exactly the values in it.
    #[test]
    fn a_range_has_the_keys_of_its_values(
        lower in bounds(),
        upper in bounds(),
        others in prop::collection::vec(values(), 1..8),
    ) {
        let range = NumberRange { lower, upper };
        let mut tried = others;
        for bound in [lower, upper] {
            if let Bound::Included(end) | Bound::Excluded(end) = bound {
                tried.extend(neighbours(end));
            }
        }
        for value in tried {
            let key = value.key().expect("no keyword");
            let keys = range.keys(value.value_type());
            let has = keys.is_some_and(|keys| keys.contains(&key));
            prop_assert_eq!(has, range.contains(number_of(&value)), "{:?} in {:?}", value, range);
        }
    }

    /// The ends of a range of keys are keys of values in it.
    #[test]
    fn the_ends_of_a_range_of_keys_are_in_it(lower in bounds(), upper in bounds()) {
        let range = NumberRange { lower, upper };
        for value_type in ValueType::ALL {
            let Some(keys) = range.keys(value_type) else {
                continue;
            };
            for key in [*keys.start(), *keys.end()] {
                let number = value_type.number_of_key(key).expect("no keyword");
                prop_assert!(range.contains(number), "{:?} of {:?}", number, range);
            }
        }
    }

    /// A number is read back from its text as the same number.
    #[test]
    fn numbers_are_read_as_they_are_printed(number in numbers()) {
        let text = number.to_string();
        match number {
            Number::Double(double) if double.is_infinite() => {
                prop_assert_eq!(Number::parse(&text), None);
            }
            number => prop_assert_eq!(Number::parse(&text), Some(number)),
        }
    }

    /// Any key, also of no value, is read without panics, and keeps the order.
    #[test]
    fn any_key_of_a_double_is_read(a in any::<u64>(), b in any::<u64>()) {
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!(double_of_key(low) <= double_of_key(high));
    }

    /// Any text is read without panics.
    #[test]
    fn any_text_is_read_as_a_number(text in "[-+0-9.eEinfaN]{0,12}") {
        if let Some(Number::Double(double)) = Number::parse(&text) {
            prop_assert!(double.is_finite());
        }
    }
}

/// The spellings of JSON are numbers, and others are not.
#[test]
fn numbers_are_spelled_as_in_json() {
    let read = |text: &str| Number::parse(text);
    assert!(matches!(read("5"), Some(Number::Long(5))));
    assert!(matches!(read("-0"), Some(Number::Long(0))));
    assert!(matches!(read("5.0"), Some(Number::Double(five)) if five == 5.0));
    assert!(matches!(
        read("9223372036854775808"),
        Some(Number::Double(_))
    ));
    assert_eq!(read("1e3"), Some(Number::Long(1_000)));
    for wrong in [
        "", "-", "+5", "05", "5.", ".5", "1e", "1e999", "NaN", "inf", " 5", "0x5", "5 ",
    ] {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

/// Codes and names of types do not change.
#[test]
fn types_have_stable_codes_and_names() {
    let known = [
        (1, "boolean"),
        (2, "date"),
        (3, "double"),
        (4, "keyword"),
        (5, "long"),
    ];
    for (value_type, (code, name)) in ValueType::ALL.into_iter().zip(known) {
        assert_eq!((value_type.code(), value_type.name()), (code, name));
        assert_eq!(ValueType::from_code(code), Some(value_type));
        assert_eq!(ValueType::from_name(name), Some(value_type));
    }
    assert_eq!(ValueType::from_code(0), None);
    assert_eq!(ValueType::from_name("text"), None);
}

proptest! {
    /// A value is read as it is printed.
    #[test]
    fn values_are_read_as_they_are_printed(value in values()) {
        let text = value.to_string();
        let read = value.value_type().parse(&text);
        match &value {
            Value::Double(double) if double.is_infinite() => prop_assert_eq!(read, None),
            Value::Date(ms) if !(0..=DATE_MAX_MS).contains(ms) => {}
            value => prop_assert_eq!(read.as_ref(), Some(value)),
        }
    }
}

/// Texts that are values of one type and not of another.
#[test]
fn a_text_is_a_value_of_some_types() {
    let read = |value_type: ValueType, text| value_type.parse(text);
    assert_eq!(read(ValueType::Long, "5.0"), Some(Value::Long(5)));
    assert_eq!(read(ValueType::Long, "5.5"), None);
    assert_eq!(read(ValueType::Long, "9223372036854775808"), None);
    assert_eq!(read(ValueType::Double, "5"), Some(Value::Double(5.0)));
    assert_eq!(read(ValueType::Boolean, "yes"), None);
    assert_eq!(
        read(ValueType::Date, "1970-01-02"),
        Some(Value::Date(86_400_000))
    );
    assert_eq!(
        read(ValueType::Keyword, "").map(|value| value.to_string()),
        Some(String::new())
    );
}
