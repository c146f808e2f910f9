"""What a build of Skywave without sockets says; the laboratory needs none."""


class NoSocketsError(ImportError):
    """Sockets are not in this build of Skywave; the text says how to get one that has them."""

    def __init__(self) -> None:
        super().__init__(
            "this build of Skywave has no sockets: install a wheel that has them, "
            "or build it with the cargo feature `sockets`"
        )
