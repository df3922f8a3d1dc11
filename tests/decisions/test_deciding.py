"""The path of five questions, its cases, its disagreements, and what would change it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalemath.core.errors import ArgumentError
from scalemath.decisions import Workload, decide
from scalemath.decisions.flips import INPUTS, flips, named
from scalemath.decisions.path import Case, outcome, walk

PRO = "8 x 96 GB"
BUSY = Workload(
    request_rate="20 request/s",
    tokens_per_request="200 token/request",
    node_token_rate="1500 token/s",
)


@pytest.mark.parametrize(
    ("workload", "model", "choice", "nodes", "step"),
    [
        ("inference", 70e9, "one node", 1, 1),
        ("inference", 405e9, "one node", 1, 1),
        ("inference", 671e9, "one node", 1, 2),
        (BUSY, 70e9, "replicas", 3, 3),
        ("full fine-tuning", 70e9, "cluster", 3, 4),
        ("inference", 2000e9, "cluster", 4, 4),
        ("pretraining", 70e9, "cluster", 3, 5),
        ("lora", 70e9, "one node", 1, 1),
        ("lora", 405e9, "one node", 1, 2),
        ("qlora", 405e9, "one node", 1, 1),
        ("full fine-tuning", 13e9, "one node", 1, 1),
    ],
)
def test_where_the_path_ends(workload, model, choice, nodes, step) -> None:
    found = decide(workload, PRO, model=model)
    assert (found.choice, found.count, found.step) == (choice, nodes, step)
    assert [s.number for s in found.trace] == list(range(step + 1))
    assert found.trace[-1].answer
    assert not any(s.answer for s in found.trace[:-1])


def test_training_is_never_decided_by_weights() -> None:
    for kind in ("full fine-tuning", "pretraining"):
        found = decide(kind, PRO, model=70e9)
        assert 100 * found.share == pytest.approx(145.833, rel=1e-5)
        assert found.choice == "cluster"
        assert "refused" in found.trace[2].numbers
    assert 100 * decide("inference", PRO, model=70e9).share == pytest.approx(9.11458, rel=1e-5)


def test_rule_and_text_disagree_on_405b_and_both_are_returned() -> None:
    found = decide("inference", PRO, model=405e9)
    assert found.choice == "one node"
    rule, text = found.readings
    assert (rule.choice, rule.nodes) == ("one node", 1)
    assert "47.2656 %" in rule.reason
    assert (text.choice, text.nodes) == ("cluster", 2)
    assert "TP8 x PP2" in text.reason
    assert "token_latency" in found.settles
    assert not decide("inference", PRO, model=70e9).readings


def test_a_latency_settles_it() -> None:
    node = "8x RTX PRO 6000"
    # 405.85 GB over 8 x 1.792 TB/s: 28.3 ms
    slow = decide(Workload(token_latency="50 ms", production=True), node, model="Llama 3.1 405B")
    assert slow.choice == "one node"
    fast = decide(Workload(token_latency="20 ms", production=True), node, model="Llama 3.1 405B")
    assert (fast.choice, fast.count, fast.step) == ("cluster", 2, 4)
    assert "28.3" in fast.settles
    (flip,) = fast.flips
    assert (flip.field, flip.becomes) == ("token_latency", "one node")
    assert flip.at == pytest.approx(405853388800 / (8 * 1.792e12))
    assert slow.flips[0].at == flip.at
    assert slow.flips[0].becomes == "cluster"
    assert fast.trace[-1].answer


def test_four_cases_for_and_five_against() -> None:
    def holding(workload, model):
        found = decide(workload, PRO, model=model)
        return [t.holds for t in found.must], [t.holds for t in found.must_not]

    must, against = holding("full fine-tuning", 70e9)
    assert must == [False, True, False, False]
    assert against == [False] * 5
    must, against = holding("inference", 405e9)
    assert must == [False, False, True, False]
    must, against = holding(BUSY, 70e9)
    assert must == [False, False, False, True]
    must, against = holding("lora", 70e9)
    assert must == [False] * 4
    assert against == [False, False, True, True, False]
    batch = Workload(
        kind="batch inference", tokens="1e9 token", deadline="7 day", node_token_rate="2000 token/s"
    )
    must, against = holding(batch, 70e9)
    assert against[4]
    late = decide(
        Workload(kind="batch inference", tokens="1e9 token", deadline="5 day",
                 node_token_rate="2000 token/s"), PRO, model=70e9,
    )  # fmt: skip
    assert (late.choice, late.count) == ("replicas", 2)  # 5.787 days on one node


def test_pretraining_is_judged_by_time_too() -> None:
    job = Workload(kind="pretraining", tokens="1.5e12 token", deadline="140 day")
    found = decide(job, "DGX H100", model=70e9)
    assert found.must[0].holds
    # 2304 days on one node of 8 at 40 %: 75.7 months of 730 hours
    assert found.case.training_time / (730 * 3600) == pytest.approx(75.709, rel=1e-3)
    assert found.count == 17
    small = Workload(kind="pretraining", tokens="1e11 token", deadline="60 day")
    assert decide(small, "DGX H100", model=1e9).choice == "one node"


def test_hyperscale_is_a_count_of_nodes() -> None:
    rate = Workload(
        request_rate="1e5 request/s", tokens_per_request="200 token/request",
        node_token_rate="2000 token/s",
    )  # fmt: skip
    assert decide(rate, PRO, model=70e9).count == 10000


def test_flips_are_where_the_answer_changes() -> None:
    found = decide("inference", PRO, model=405e9)
    at = {f.field: f.at for f in found.flips}
    assert at["parameters"] == pytest.approx(537.6e9)
    assert at["capacity"] == pytest.approx(405e9 / 0.7)
    assert at["headroom"] == pytest.approx(1 - 405 / 768)
    assert found.flips[0].name in found.explain()


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["inference", "lora", "full fine-tuning", "pretraining"]),
    st.floats(1e9, 3e12),
    st.floats(1e11, 2e13),
    st.floats(0.05, 0.6),
)
def test_an_answer_holds_up_to_its_flip_and_changes_beyond(kind, parameters, capacity, headroom):
    case = Case(
        kind=kind, parameters=parameters, active=parameters, state=2.0, capacity=capacity,
        usable=capacity, headroom=headroom, cache=0.0, overhead=0.0, demand=0.0,
        node_rate=float("inf"), tokens=0.0, node_flops=0.0, deadline=1.0,
    )  # fmt: skip
    here = named(outcome(case))
    end, trace = walk(case)
    assert trace[-1].number == end.step
    for flip in flips(case):
        assert flip.field in INPUTS
        outside = case._replace(**{flip.field: flip.at * (1.001 if flip.at > flip.now else 0.999)})
        inside = case._replace(**{flip.field: flip.at * (0.999 if flip.at > flip.now else 1.001)})
        if flip.field == "capacity":
            outside = outside._replace(usable=outside.capacity)
            inside = inside._replace(usable=inside.capacity)
        assert named(outcome(outside)) != here
        assert named(outcome(inside)) == here


def test_a_bad_layout_is_a_caution() -> None:
    low = decide("full fine-tuning", PRO, model=70e9, efficiency_across=0.5)
    # 1 / (1 + 23 s) = 0.5 gives s = 1 / 23, and 0.6 is reached at 1 + (2 / 3) / s
    assert any(f"{1 + 23 * 2 / 3:.4g} devices" in text for text in low.cautions)
    assert not decide("full fine-tuning", PRO, model=70e9, efficiency_across=0.65).cautions
    assert "TP8 inside" in low.layout


def test_the_model_may_stand_in_the_workload() -> None:
    found = decide(Workload(model="Llama 3.1 70B"), PRO)
    assert str(found) == str(decide("inference", PRO, model="Llama 3.1 70B"))
    with pytest.raises(ArgumentError, match="number of parameters"):
        decide("inference", PRO)


def test_a_wanted_rate_needs_the_rate_of_a_node() -> None:
    job = Workload(request_rate="10 request/s", tokens_per_request="200 token/request")
    with pytest.raises(ArgumentError, match="node_token_rate"):
        decide(job, PRO, model=70e9)


def test_the_answer_shows_itself() -> None:
    found = decide("inference", PRO, model=405e9)
    assert str(found).startswith("one node: 405B inference takes 52.7344 %")
    text = found.explain()
    for words in ("step 1", "would settle it", "would change", "must scale"):
        assert words in text
    html = found._repr_html_()
    assert html.count("<table>") == 3
    assert len(found.cases()) == 9
    assert found.to_dict()["values"]["nodes"]["value"] == 1.0
