#![no_main]

use libfuzzer_sys::fuzz_target;
use skywave_fuzz::capture;

fuzz_target!(|data: &[u8]| capture::fuzz(data));
