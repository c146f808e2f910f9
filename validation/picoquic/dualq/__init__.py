"""DualPI2 on fixed sequences of arrivals: picoquic's, RFC 9332's pseudocode, and ours."""
