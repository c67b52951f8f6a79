//! Unix seconds as RFC 3339, in UTC with milliseconds.

/// `1700000000.25` as `2023-11-14T22:13:20.250Z`.
pub fn rfc3339(unix_seconds: f64) -> String {
    let millis = (unix_seconds * 1000.0).round() as i64;
    let (seconds, millis) = (millis.div_euclid(1000), millis.rem_euclid(1000));
    let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) =
        (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The Gregorian date of a day counted from 1970-01-01. Years are counted from March, so that the
/// leap day comes last, and in eras of 400 years, which all have the same length.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    const DAYS_PER_ERA: i64 = 146_097;
    let from_march_of_year_0 = days + 719_468;
    let era = from_march_of_year_0.div_euclid(DAYS_PER_ERA);
    let day_of_era = from_march_of_year_0.rem_euclid(DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + 400 * era + i64::from(month <= 2);
    (year, month, day)
}

/// Unix seconds from RFC 3339, or from seconds as they stand.
pub fn parse_rfc3339(text: &str) -> Option<f64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return seconds.is_finite().then_some(seconds);
    }
    if !text.is_ascii() || text.len() < 20 || text.len() > 40 {
        return None;
    }
    let (date_time, rest) = text.split_at(19);
    let bytes = date_time.as_bytes();
    let has_signs = bytes[4] == b'-'
        && bytes[7] == b'-'
        && matches!(bytes[10], b'T' | b't' | b' ')
        && bytes[13] == b':'
        && bytes[16] == b':';
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = &date_time[from..to];
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !has_signs
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let zone_at = rest.find(['Z', 'z', '+', '-'])?;
    let (fraction, zone) = rest.split_at(zone_at);
    let fraction: f64 = match fraction.strip_prefix('.') {
        None if fraction.is_empty() => 0.0,
        Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            format!("0.{digits}").parse().ok()?
        }
        _ => return None,
    };
    let offset_minutes = match zone.as_bytes() {
        b"Z" | b"z" => 0,
        [sign, ..] if zone.len() == 6 && zone.as_bytes()[3] == b':' => {
            let (hours, minutes) =
                (zone[1..3].parse::<i64>().ok()?, zone[4..6].parse::<i64>().ok()?);
            (hours * 60 + minutes) * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some((seconds - offset_minutes * 60) as f64 + fraction)
}

/// The inverse of [`civil_from_days`].
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unix_seconds: f64, expected: &str) {
        assert_eq!(rfc3339(unix_seconds), expected);
        assert_eq!(parse_rfc3339(expected), Some(unix_seconds));
    }

    #[test]
    fn known_moments() {
        // From `date -u -d @N +%FT%TZ`.
        check(0.0, "1970-01-01T00:00:00.000Z");
        check(951_782_400.0, "2000-02-29T00:00:00.000Z");
        check(1_700_000_000.25, "2023-11-14T22:13:20.250Z");
        check(1_709_251_199.0, "2024-02-29T23:59:59.000Z");
        check(4_102_444_800.0, "2100-01-01T00:00:00.000Z");
        check(-1.0, "1969-12-31T23:59:59.000Z");
    }

    #[test]
    fn times_are_read_in_any_zone_and_nonsense_is_not() {
        assert_eq!(parse_rfc3339("1970-01-01T01:00:00+01:00"), Some(0.0));
        assert_eq!(parse_rfc3339("1969-12-31T23:30:00.5-00:30"), Some(0.5));
        assert_eq!(parse_rfc3339("12.5"), Some(12.5));
        for text in [
            "",
            "now",
            "NaN",
            "1970-01-01",
            "1970-13-01T00:00:00Z",
            "1970-01-01T00:00:00",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00+1:00",
            "1970-01-01T00:00:00Zx",
            "é970-01-01T00:00:00Z",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
    }
}
