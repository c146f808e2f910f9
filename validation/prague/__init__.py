"""L4STeam's udp_prague as a reference: behind an emulated link, beside ours in the simulator."""
