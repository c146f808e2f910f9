#![no_main]

use libfuzzer_sys::fuzz_target;
use skywave_fuzz::options;

fuzz_target!(|input: options::Input| options::fuzz(input));
