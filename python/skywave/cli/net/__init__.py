"""The commands that use real networks: listen, send, ping and perf."""
