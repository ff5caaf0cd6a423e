//! Keys of 64 bits, whose unsigned order is the order of the values of one type.

/// The bit of the sign. Flipped, it puts negative numbers below the others.
const SIGN: u64 = 1 << 63;

/// Returns the key of a long.
pub fn key_of_long(value: i64) -> u64 {
    value.cast_unsigned() ^ SIGN
}

/// Returns the long of a key.
pub fn long_of_key(key: u64) -> i64 {
    (key ^ SIGN).cast_signed()
}

/// Returns the key of a double, none of NaN. -0.0 has the key of 0.0.
pub fn key_of_double(value: f64) -> Option<u64> {
    if value.is_nan() {
        return None;
    }
    // Adding 0.0 makes 0.0 of -0.0, and changes nothing else.
    let bits = (value + 0.0).to_bits();
    let is_negative = bits & SIGN != 0;
    Some(if is_negative { !bits } else { bits | SIGN })
}

/// Returns the double of a key. A key that no double has, as damage may hold, gives the nearest
/// infinity.
pub fn double_of_key(key: u64) -> f64 {
    let is_positive = key & SIGN != 0;
    let bits = if is_positive { key ^ SIGN } else { !key };
    let value = f64::from_bits(bits);
    if !value.is_nan() {
        return value + 0.0;
    }
    if is_positive {
        f64::INFINITY
    } else {
        f64::NEG_INFINITY
    }
}

/// Returns the key of a boolean: 0 or 1.
pub fn key_of_boolean(value: bool) -> u64 {
    u64::from(value)
}

/// Returns the boolean of a key: `true` unless the key is 0.
pub fn boolean_of_key(key: u64) -> bool {
    key != 0
}

/// Returns the key of a date in UTC milliseconds.
pub fn key_of_date(milliseconds: i64) -> u64 {
    key_of_long(milliseconds)
}

/// Returns the UTC milliseconds of a key.
pub fn date_of_key(key: u64) -> i64 {
    long_of_key(key)
}
