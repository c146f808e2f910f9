#![no_main]

use libfuzzer_sys::fuzz_target;
use skywave_fuzz::connection;

fuzz_target!(|input: connection::Input| connection::fuzz(input));
