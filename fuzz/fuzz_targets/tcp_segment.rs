#![no_main]

use libfuzzer_sys::fuzz_target;
use skywave_fuzz::segment;

fuzz_target!(|data: &[u8]| segment::fuzz(data));
