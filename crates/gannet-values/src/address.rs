//! Internet addresses and networks: their texts, their order, and the strings that columns have.
//!
//! An address has 128 bits. One of IPv4 is the mapped address of IPv6, `::ffff:a.b.c.d`, and both
//! spellings are the same address. Columns and terms have the 32 hexadecimal digits of an address,
//! whose bytes are in the order of addresses.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Bits of an address.
const BITS: u32 = 128;

/// Bits before the address of IPv4 in the mapped one.
const MAPPED_BITS: u32 = 96;

/// Bytes of the string of an address.
const STRING_BYTES: usize = 32;

/// An internet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(u128);

/// The addresses from one to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    /// The first address.
    pub first: Address,
    /// The last address, which is in it.
    pub last: Address,
}

impl Address {
    /// Reads an address of IPv4 or IPv6. One with a zone, as `fe80::1%eth0`, is none.
    pub fn parse(text: &str) -> Option<Address> {
        let bits = match text.parse().ok()? {
            IpAddr::V4(own) => own.to_ipv6_mapped().to_bits(),
            IpAddr::V6(own) => own.to_bits(),
        };
        Some(Address(bits))
    }

    /// Returns the string that columns and terms have.
    pub fn to_column_string(self) -> String {
        format!("{:032x}", self.0)
    }

    /// Reads what [`Address::to_column_string`] gave.
    pub fn of_column_string(string: &[u8]) -> Option<Address> {
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if string.len() != STRING_BYTES || !string.iter().all(is_digit) {
            return None;
        }
        let text = std::str::from_utf8(string).ok()?;
        u128::from_str_radix(text, 16).ok().map(Address)
    }

    /// Returns the bits, the first of them being the highest.
    pub fn to_bits(self) -> u128 {
        self.0
    }

    /// Returns the address with some bits.
    pub fn of_bits(bits: u128) -> Address {
        Address(bits)
    }

    /// Returns the address behind it, none behind the last of all.
    pub fn next(self) -> Option<Address> {
        self.0.checked_add(1).map(Address)
    }
}

/// The canonical text: of IPv4 four numbers, else as RFC 5952 has it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = Ipv6Addr::from_bits(self.0);
        match address.to_ipv4_mapped() {
            Some(own) => own.fmt(f),
            None => address.fmt(f),
        }
    }
}

impl AddressRange {
    /// Reads an address alone, or a network such as `10.0.0.0/8`, of which the address may be any.
    pub fn parse(text: &str) -> Option<AddressRange> {
        let Some((address, length)) = text.split_once('/') else {
            let only = Address::parse(text)?;
            return Some(AddressRange {
                first: only,
                last: only,
            });
        };
        let is_plain = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let length: u32 = length.parse().ok().filter(|_| is_plain)?;
        let (most, before) = match address.parse().ok()? {
            IpAddr::V4(_) => (BITS - MAPPED_BITS, MAPPED_BITS),
            IpAddr::V6(_) => (BITS, 0),
        };
        if length > most {
            return None;
        }
        let rest = u128::MAX.checked_shr(before + length).unwrap_or(0);
        let bits = Address::parse(address)?.0;
        Some(AddressRange {
            first: Address(bits & !rest),
            last: Address(bits | rest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        Address::parse(text).map(|address| address.to_string())
    }

    fn range(text: &str) -> Option<(String, String)> {
        let range = AddressRange::parse(text)?;
        Some((range.first.to_string(), range.last.to_string()))
    }

    #[test]
    fn addresses_are_shown_in_one_form() {
        for (text, wanted) in [
            ("10.0.0.1", "10.0.0.1"),
            ("::ffff:10.0.0.1", "10.0.0.1"),
            ("::FFFF:a00:1", "10.0.0.1"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("::", "::"),
            ("::1", "::1"),
            ("0.0.0.0", "0.0.0.0"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(wanted), "{text}");
        }
        for text in [
            "",
            "10.0.0",
            "10.0.0.256",
            "010.0.0.1",
            "fe80::1%eth0",
            "a.b",
            "1",
            " ::1",
            "10.0.0.0/8",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn strings_are_in_the_order_of_addresses() {
        let ascending = [
            "::",
            "::1",
            "0.0.0.0",
            "9.255.0.0",
            "10.0.0.1",
            "255.255.255.255",
            "1::",
            "ffff::",
        ];
        let strings = ascending.map(|text| Address::parse(text).unwrap().to_column_string());
        assert!(strings.is_sorted());
        for (string, text) in strings.iter().zip(ascending) {
            let back = Address::of_column_string(string.as_bytes()).unwrap();
            assert_eq!(back.to_string(), text);
        }
        for string in [
            "",
            "0",
            &"g".repeat(32),
            &"A".repeat(32),
            &"0".repeat(33),
            "+0000000000000000000000000000001",
        ] {
            assert_eq!(Address::of_column_string(string.as_bytes()), None);
        }
    }

    #[test]
    fn networks_have_their_first_and_their_last_address() {
        let own = |first: &str, last: &str| Some((first.to_owned(), last.to_owned()));
        assert_eq!(range("10.1.2.3/8"), own("10.0.0.0", "10.255.255.255"));
        assert_eq!(range("10.1.2.3/32"), own("10.1.2.3", "10.1.2.3"));
        assert_eq!(range("10.1.2.3"), own("10.1.2.3", "10.1.2.3"));
        assert_eq!(range("0.0.0.0/0"), own("0.0.0.0", "255.255.255.255"));
        let all = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        assert_eq!(range("::/0"), own("::", all));
        assert_eq!(range("2001:db8::5/126"), own("2001:db8::4", "2001:db8::7"));
        for text in [
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "10.0.0.0/-1",
            "/8",
            "x/8",
            "::/8/8",
        ] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}
