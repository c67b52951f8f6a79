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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unix_seconds: f64, expected: &str) {
        assert_eq!(rfc3339(unix_seconds), expected);
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
}
