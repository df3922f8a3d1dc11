"""The claim checker: two printed numbers in, a like-for-like comparison and a verdict out."""

from scalemath.claims.arithmetic import worked
from scalemath.claims.check import ClaimCheck, check_claim
from scalemath.claims.claim import Claim
from scalemath.claims.derating import Derated, Derating, derate, least_of
from scalemath.claims.ledgers import Ledger, LedgerLine, ledger
from scalemath.claims.reading import quotient
from scalemath.claims.rounding import prints_as, rounds_to
from scalemath.claims.verdicts import VERDICTS

__all__ = [
    "VERDICTS",
    "Claim",
    "ClaimCheck",
    "Derated",
    "Derating",
    "Ledger",
    "LedgerLine",
    "check_claim",
    "derate",
    "least_of",
    "ledger",
    "prints_as",
    "quotient",
    "rounds_to",
    "worked",
]
