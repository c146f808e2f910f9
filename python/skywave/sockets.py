"""The error of a build of Skywave without sockets."""


class NoSocketsError(ImportError):
    """Sockets are missing from this build of Skywave. The message says how to get one that has."""

    def __init__(self) -> None:
        super().__init__(
            "this build of Skywave has no sockets: install a wheel that has them, "
            "or build it with the cargo feature `sockets`"
        )
