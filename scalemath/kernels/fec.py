"""Reed-Solomon codes on links: what they correct, what they cost, what error rate is left."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel

_RS = "Reed, Solomon, J. SIAM 8 (1960) 300; RS(544,514): IEEE 802.3 clause 91"


@kernel(
    unit="1",
    rises="codeword",
    falls="message",
    source=_RS,
    formula="floor((codeword - message) / 2)",
)
def corrected_symbols(codeword: float, message: float) -> float:
    """Symbols t that a Reed-Solomon code corrects per block."""
    return float(math.floor((codeword - message) / 2.0))


@kernel(
    unit="1",
    rises="message",
    falls="codeword",
    source=_RS,
    formula="message / codeword",
)
def code_rate(codeword: float, message: float) -> float:
    """Share of the line rate that carries the message."""
    return message / codeword


@kernel(
    unit="1",
    rises="codeword",
    falls="message",
    source=_RS,
    formula="codeword / message - 1",
)
def code_overhead(codeword: float, message: float) -> float:
    """Extra line rate over the message."""
    return codeword / message - 1.0


@kernel(
    unit="s",
    rises="codeword symbol_bits",
    falls="line_rate",
    source="time for one whole block to arrive; decoding comes on top",
    formula="codeword * symbol_bits / line_rate",
)
def block_latency(codeword: float, symbol_bits: float, line_rate: float) -> float:
    """Time one block takes at a line rate per direction [byte/s]."""
    return codeword * symbol_bits / (8.0 * line_rate)


@kernel(
    unit="byte/s",
    rises="line_rate message transcoding",
    falls="codeword",
    source="IEEE 802.3 clauses 91 and 119: 256b/257b transcoding before the code",
    formula="line_rate * message / codeword * transcoding",
)
def net_rate(line_rate: float, codeword: float, message: float, transcoding: float) -> float:
    """Rate left for data after the code and the transcoding."""
    return line_rate * message / codeword * transcoding


@kernel(
    unit="byte/s",
    rises="rate codeword",
    falls="message transcoding",
    source="IEEE 802.3 clauses 91 and 119",
    formula="rate * codeword / message / transcoding",
)
def required_line_rate(rate: float, codeword: float, message: float, transcoding: float) -> float:
    """Line rate that a rate of data needs."""
    return rate * codeword / message / transcoding


@kernel(
    unit="Hz",
    rises="bit_error_rate rate",
    source="definition of the bit error rate",
    formula="bit_error_rate * rate",
)
def errors_per_second(bit_error_rate: float, rate: float) -> float:
    """Bit errors per second at a rate per direction [byte/s]."""
    return bit_error_rate * (8.0 * rate)


@kernel(
    unit="1",
    rises="bit_error_rate symbol_bits",
    source="independent bit errors",
    formula="1 - (1 - bit_error_rate)^symbol_bits",
)
def symbol_error_rate(bit_error_rate: float, symbol_bits: float) -> float:
    """Share of symbols with at least one wrong bit."""
    if bit_error_rate >= 1.0:
        return 1.0
    return -math.expm1(symbol_bits * math.log1p(-bit_error_rate))


@kernel(
    unit="1",
    rises="bit_error_rate symbol_bits",
    free="codeword message",
    free_because="more symbols bring more errors and more correction",
    source=f"{_RS}; binomial tail with independent symbol errors",
    formula="sum over i > t of C(n, i) p^i (1 - p)^(n - i)",
)
def block_failure_rate(
    bit_error_rate: float, codeword: float, message: float, symbol_bits: float
) -> float:
    """Share of blocks with more wrong symbols than the code corrects."""
    wrong = symbol_error_rate(bit_error_rate, symbol_bits)
    if wrong <= 0.0:
        return 0.0
    if wrong >= 1.0:
        return 1.0
    first = corrected_symbols(codeword, message) + 1.0
    log_wrong = math.log(wrong)
    log_right = math.log1p(-wrong)
    choose = math.lgamma(codeword + 1.0)
    found = 0.0
    for extra in range(int(min(codeword - first + 1.0, 4096.0))):
        count = first + extra
        ways = choose - math.lgamma(count + 1.0) - math.lgamma(codeword - count + 1.0)
        found += math.exp(ways + count * log_wrong + (codeword - count) * log_right)
    return min(found, 1.0)
