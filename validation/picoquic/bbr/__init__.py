"""BBR, CUBIC and Reno on five networks: picoquic's, and ours in the simulator."""
