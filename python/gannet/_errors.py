"""The exceptions of Gannet: one class for each kind of error that a program can act on."""


class GannetError(Exception):
    """The base of all exceptions of this package."""


class InvalidError(GannetError, ValueError):
    """The request cannot be carried out as it was put: a bad query, document, option or path.

    The message says what was expected, what was found and where: field, column or line.
    """


class OptionError(InvalidError, TypeError):
    """A call has no keyword argument of this name. The message says which is meant."""


class MissingError(InvalidError, FileNotFoundError):
    """There is no file, folder or index at this path."""


class NotFoundError(GannetError, KeyError):
    """The index has no document with this ID."""

    def __str__(self) -> str:
        # A KeyError would show the message in quotes.
        return str(self.args[0]) if self.args else ""


class ConflictError(GannetError):
    """Another writer changed the document meanwhile; nothing was written."""


class LimitError(GannetError, MemoryError):
    """The memory budget is too small for what was asked: give more memory, or ask for less."""


class SearchTimeoutError(GannetError, TimeoutError):
    """A search did not end within its time limit; there is no partial answer."""


class LockedError(GannetError):
    """Another handle or process writes the index: close that one, or open with `read_only=True`."""


class FormatError(GannetError):
    """This is no index, one of another version, or a copy that was cut short."""


class DamagedError(GannetError):
    """Stored bytes are not what was written: restore a backup, or build the index again."""


class DeviceError(GannetError, OSError):
    """The device rejected or failed an operation, for example since it is full."""


class ExpiredError(GannetError):
    """A snapshot was given up, since it held space or memory that was needed: take a new one."""


class StoppedError(GannetError):
    """The writer stopped after an earlier failure: open the index again."""


class ClosedError(GannetError, ValueError):
    """The handle was closed: open the index again, or take a new snapshot."""


class ForkError(GannetError, RuntimeError):
    """The handle was opened before a fork: open the index again in this process."""


class InternalError(GannetError):
    """A bug of Gannet: please report it with the message and with what you did."""
