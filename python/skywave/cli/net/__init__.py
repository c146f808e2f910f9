"""The commands that put DCCP on a real network: listen, send, ping, perf."""
