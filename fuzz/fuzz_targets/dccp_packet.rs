#![no_main]

use libfuzzer_sys::fuzz_target;
use skywave_fuzz::packet;

fuzz_target!(|data: &[u8]| packet::fuzz(data));
