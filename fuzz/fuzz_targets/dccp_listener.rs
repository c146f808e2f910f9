#![no_main]

use libfuzzer_sys::fuzz_target;
use skywave_fuzz::listener;

fuzz_target!(|input: listener::Input| listener::fuzz(input));
