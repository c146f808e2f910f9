"""A soak: hours of hostile traffic through sockets, watched for leaks and for lost datagrams.

Two long-lived processes are judged: ``server``, with listeners of CCIDs 2, 3 and 4, and ``client``,
which opens, ends, cancels and drops connections, and forks. Everything between them goes through
``path``, which loses, repeats, delays and reorders packets and sends garbage to both. Besides,
clients are killed (``victim``), and ``skywave send`` runs and is killed.

Each end reports every connection when it is over (``ends``); the ``account`` compares the two. The
``outcome`` judges samples of memory and descriptors, the account, and what is left at the end.
``runner`` starts all of it; ``README.md`` says what a run has shown.
"""
