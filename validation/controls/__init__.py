"""Each control over TCP on one network, beside an implementation that is not ours."""
