"""The Linux kernel's DCCP as peer.

Linux had DCCP until 6.16. An older, unmodified Debian kernel boots beside the code under test and
is connected to it by a TAP device in a network namespace. The way through:

- ``machine``: the programs that this needs, and what a machine lacks;
- ``namespace``, ``kernel``, ``guests``: a namespace with a bridge, Debian's kernel, a booted guest;
- ``guest/``: what runs inside: PID 1, and a peer on the kernel's sockets;
- ``emulation``, ``capture``: what the path does to packets, and what was on the wire;
- ``cases``: the matrix as data;
- ``ends``: how either end is started, and what it reports;
- ``outcome``: whether a case's evidence shows what it should;
- ``lab``, ``matrix``: run one case, and many; ``__main__``: the command line.
"""
