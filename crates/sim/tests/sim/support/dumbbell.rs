//! A dumbbell with the queue discipline under test at its bottleneck.

use skywave_sim::Results;

use crate::support::{counts, floats, run_verified, table, words};

/// Runs `flows` over a dumbbell of 10 Mbps with a round-trip time of 40 ms, or 100 ms for every
/// second pair.
pub(crate) fn dumbbell(queue: &str, flows: &[&str]) -> Results {
    let flows: String = (1..)
        .zip(flows)
        .map(|(pair, flow)| {
            format!(
                "[[flows]]\nname = \"flow{pair}\"\nfrom = \"s{pair}\"\nto = \"d{pair}\"\n\
                 start = \"{} ms\"\n{flow}\n",
                70 * pair
            )
        })
        .collect();
    let text = format!(
        "name = \"queues\"\nduration = \"60 s\"\nseed = 5\nprobes = {{ interval = \"10 ms\" }}\n\
         [dumbbell]\npairs = 8\nrate = \"10 Mbps\"\ndelay = \"18 ms\"\nqueue = {{ {queue} }}\n\
         access_rate = \"100 Mbps\"\naccess_delays = [\"1 ms\", \"31 ms\"]\n{flows}"
    );
    run_verified(&text)
}

pub(crate) const TCP: &str = "transport = { tcp = {} }\nsource = { ftp = {} }";
pub(crate) const ECN_TCP: &str = "transport = { tcp = { ecn = true } }\nsource = { ftp = {} }";
pub(crate) const DCCP: &str =
    "transport = { dccp = { ccid = 2 } }\nsource = { ftp = { datagram = \"1000 B\" } }";

/// The mean queueing delay at the bottleneck in seconds, without the first third of the run.
pub(crate) fn mean_delay(results: &Results) -> f64 {
    let links = table(results, "links");
    let (names, times) = (words(links, "link"), floats(links, "time_s"));
    let bytes = counts(links, "queue_bytes");
    let waiting: Vec<f64> = (0..links.num_rows())
        .filter(|&row| names[row] == "r1->r2" && times[row] > 20.0)
        .map(|row| bytes[row] as f64 * 8.0 / 10e6)
        .collect();
    waiting.iter().sum::<f64>() / waiting.len() as f64
}
