"""Records of the catalogue: tables of data with their sources, read from TOML."""

from scalemath.records.library import Library, builtin
from scalemath.records.loader import read_records
from scalemath.records.record import Record
from scalemath.records.table import Table

__all__ = ["Library", "Record", "Table", "builtin", "read_records"]
