//! Each number of a profile, half and half again as large: what the whole of the queries takes
//! then.

use gannet_offload::{Cost, Way};
use serde_json::{Value as Json, json};

use super::{Arguments, Asked, Side};
use crate::Outcome;

/// Numbers that say what flash takes: programs read anew for them.
const OF_FLASH: [&str; 4] = ["channels", "channel_mb_s", "page_us", "request_pages"];

/// A line for each change of each number, and for each way that is compared.
pub fn rows(asked: &[Asked<'_>], side: &Side, arguments: &Arguments) -> Outcome<Vec<Json>> {
    let mut rows = sums(asked, side, ("", 1.0))?;
    for (key, value) in side.profile.numbers() {
        for factor in [0.5, 1.5] {
            // A number that cannot be so is left out, such as half a page of a request.
            let changed = side.profile.with(&format!("{key}={}", value * factor));
            if let Ok(profile) = changed {
                let changed = Side::new(profile, arguments, false)?;
                changed.trials.prove_by(&side.trials);
                rows.extend(sums(asked, &changed, (key, factor))?);
            }
        }
    }
    Ok(rows)
}

fn sums(asked: &[Asked<'_>], side: &Side, (key, factor): (&str, f64)) -> Outcome<Vec<Json>> {
    let mut rows = Vec::new();
    for (way, prunes) in [(Way::All, false), (Way::Best, false), (Way::Best, true)] {
        let (mut host, mut drive) = (Cost::default(), Cost::default());
        let of_way = |asked: &&Asked<'_>| asked.is_ranked() == (way == Way::Best);
        for asked in asked.iter().filter(of_way) {
            let Some(run) = asked.trial.tried(way, prunes) else {
                continue;
            };
            let anew = if OF_FLASH.contains(&key) || key.is_empty() {
                &side.trials.anew(run)?
            } else {
                run
            };
            add(&mut host, asked.on_host(run, &side.profile));
            add(&mut drive, asked.in_drive(anew, &side.profile));
        }
        if host.ms > 0.0 {
            rows.push(json!({
                "key": key, "factor": factor, "early": prunes,
                "host_ms": host.ms, "drive_ms": drive.ms, "host_mj": host.mj,
                "drive_mj": drive.mj, "host_mj_by_counts": host.mj_by_counts,
                "drive_mj_by_counts": drive.mj_by_counts,
            }));
        }
    }
    Ok(rows)
}

fn add(sum: &mut Cost, cost: Cost) {
    sum.ms += cost.ms;
    sum.mj += cost.mj;
    sum.mj_by_counts += cost.mj_by_counts;
}
