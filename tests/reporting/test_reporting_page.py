from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import small_world

from elastic.contracts.frames import METHODS
from elastic.contracts.records import Departure, Overlap
from elastic.reporting.evidence import Evidence
from elastic.reporting.figures.style import OKABE_ITO, css_name, palette
from elastic.reporting.figures.training import training_curves
from elastic.reporting.findings import Findings, find
from elastic.reporting.headline import build_headline
from elastic.reporting.markdown import render_markdown
from elastic.reporting.page import render_page

VOID = {"meta", "link", "br", "img", "hr", "input", "path", "use"}


class Outline(HTMLParser):
    """Tags with their attributes, and whether each one that opens also closes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    return parser


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_every_tag_is_closed_and_every_id_is_unique(outline: Outline) -> None:
    assert outline.open == []
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_nothing_is_loaded_from_elsewhere(page: str, outline: Outline) -> None:
    for tag, attributes in outline.tags:
        assert tag not in ("script", "iframe", "object", "embed")
        for name in ("src", "srcset", "data", "poster"):
            assert name not in attributes or str(attributes[name]).startswith("data:")
        if tag in ("link", "use"):
            address = attributes.get("href") or attributes.get("xlink:href") or ""
            assert address.startswith(("#", "data:"))
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_links_within_the_page_lead_somewhere(outline: Outline) -> None:
    ids = {attributes.get("id") for _, attributes in outline.tags}
    links = [str(attributes["href"]) for tag, attributes in outline.tags if tag == "a"]
    assert {link[1:] for link in links if link.startswith("#")} <= ids
    assert {"../exports/model/README.md", "data_docs/curated/index.html", "summary.json", "summary.md"} <= set(links)


def test_the_page_names_every_model_method_and_axis(page: str) -> None:
    text = text_of(page)
    for name in (*small_world.MODELS, *METHODS):
        assert name in text
    assert page.count(">mean thinking + solution tokens used</text>") == 2
    assert ">thinking budget t</text>" in page


def test_every_figure_says_what_it_shows_and_has_one_legend(outline: Outline, page: str) -> None:
    drawings = [attributes for tag, attributes in outline.tags if tag == "svg"]
    assert len(drawings) == 14
    assert all(d.get("role") == "img" and len(str(d.get("aria-label"))) > 40 for d in drawings)
    assert page.count('id="accuracy-by-tokens-legend_1"') == 1
    assert '-legend_2"' not in page


def test_figures_follow_the_scheme_of_the_page(page: str) -> None:
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert not re.search(r"#[0-9a-f]{6}\b", drawings)
    used = set(re.findall(r"var\((--[a-z]+)\)", page))
    assert used <= set(re.findall(r"(--[a-z]+):", page))


def test_models_have_colours_of_their_own() -> None:
    colours = palette([f"m{i}" for i in range(8)])
    assert len(set(colours.values())) == 8
    assert {css_name(colour) for colour in colours.values()} == {f"--{name}" for name in OKABE_ITO}


def test_the_headline_says_what_was_gained_and_where(evidence: Evidence, findings: Findings, page: str) -> None:
    headline = findings.headline
    assert headline.subject == "r1"
    assert str(headline.budget) == f"24+{small_world.S}"
    row = next(
        row for row in evidence.grid
        if (row.model, row.split, row.method, row.think, row.solution) == ("r1", "test", "separate", 24, small_world.S)
    )  # fmt: skip
    assert f"r1 solves {row.accuracy:.0%} of the test problems" in page
    assert headline.gain.low > 0.1
    assert headline.saved > 0.2
    assert headline.better >= 1
    assert headline.compared == len(small_world.THINK)


def test_a_base_that_stays_is_said_to_stay(evidence: Evidence, findings: Findings) -> None:
    stays = replace(evidence, decision=evidence.decision.model_copy(update={"promoted": "base"}))
    headline = build_headline(stays, findings.rounds)
    assert not headline.promoted
    assert headline.subject == "r2"
    assert "No round replaces base" in headline.sentence


def test_a_round_trained_between_measured_budgets_is_read_at_the_next(evidence: Evidence, findings: Findings) -> None:
    assert str(evidence.measured("r2")) == f"48+{small_world.S}"  # trained at 40; 24 and 48 were measured
    promoted = replace(evidence, decision=evidence.decision.model_copy(update={"promoted": "r2"}))
    page = render_page(promoted, replace(findings, headline=build_headline(promoted, findings.rounds)))
    assert "nearest measured budget to its training budget of 40+16" in page


def test_traces_show_where_the_delimiter_was_inserted(page: str) -> None:
    traces = re.findall(r"<article.*?</article>", page, flags=re.DOTALL)
    forced = [trace for trace in traces if "&lt;/think&gt; inserted" in trace]
    natural = [trace for trace in traces if "&lt;/think&gt;</span>" in trace and "out of tokens" not in trace]
    cut = [trace for trace in traces if "out of tokens" in trace]
    assert len(traces) == 6
    assert len(forced) == len(natural) == len(cut) == 2
    assert all("24 thinking + " in trace and "+ 1 inserted" in trace for trace in forced)


def test_text_of_the_data_cannot_break_the_page(page: str) -> None:
    assert "<b>1+1</b>" not in page
    assert "&lt;b&gt;1+1&lt;/b&gt;" in page


def test_a_source_stands_with_what_its_licence_forbids_and_what_it_overlaps(page: str) -> None:
    rows = re.findall(r"<tr>.*?</tr>", page, flags=re.DOTALL)
    incoming = text_of(next(row for row in rows if "files in data/raw" in row))
    assert "files in data/raw at 01234567" in incoming
    assert "user-provided" in incoming
    assert "commercial use" in incoming
    assert "training only" in incoming
    assert "every split" in text_of(next(row for row in rows if "drawn from elastic_chains" in row))
    assert "Known overlaps of incoming: one problem of chains." in text_of(page)


def test_rounds_stand_beside_the_published_finding_with_their_correction(page: str) -> None:
    text = text_of(page)
    assert "Holm" in text
    assert f"among the {3 * (len(small_world.THINK) + 1)} comparisons" in text
    for figure in ("13.5%", "11.5%", "27.9%", "26.7%"):
        assert figure in text


def test_problems_stand_by_bucket_and_source_with_what_was_left_out(page: str, outline: Outline) -> None:
    """40 problems over 4 samples, the last one without a graded trace; every fourth is of the second source."""
    text = text_of(page)
    assert "160 traces of 40 training problems, 4 a problem at 32+16" in text
    assert "left out of the pass rates and never count as wrong: 4." in text
    assert "Problems without a graded trace, hence without a bucket: 1." in text
    [words] = [
        str(attributes["aria-label"])
        for tag, attributes in outline.tags
        if tag == "svg" and "of each source" in str(attributes.get("aria-label"))
    ]
    assert "chains: never 6, hard 12, easy 6, always 5, not graded 1" in words
    assert "incoming: never 2, hard 4, easy 2, always 2, not graded 0" in words
    assert "hard: above 0%, up to 50%; easy: above 50%; always" in text


def test_a_gate_says_whether_an_accepted_version_was_there(page: str) -> None:
    rows = re.findall(r"<tr><th scope=\"row\">(?:curated|bucketed)</th>.*?</tr>", page, flags=re.DOTALL)
    curated, bucketed = map(text_of, rows)
    assert "passed 3 5 more Data Docs of curated" in curated
    assert "passed 3 no version was accepted yet: nothing was compared not on this machine" in bucketed


def test_a_stage_without_a_valid_record_was_not_measured_here(
    evidence: Evidence, findings: Findings, page: str
) -> None:
    assert page.count("not measured here") == 1
    records = dict(evidence.records) | {"train@r1": None, "sample@r2-test": None}
    changed = render_page(replace(evidence, records=records), findings)
    assert changed.count("not measured here") == 4


def test_a_log_without_some_keys_draws_what_is_there(evidence: Evidence) -> None:
    log = {"r1": [{"step": 1, "reward": 0.1}, {"step": 2, "reward": None}, {"step": 3, "reward": 0.3}], "r2": []}
    [drawing] = training_curves(log, small_world.MODELS)
    assert "mean reward" in drawing.alt
    assert "r2" not in drawing.alt
    assert training_curves({"r1": []}, small_world.MODELS) == []


def test_an_alert_of_training_stands_at_the_top_and_in_its_section(page: str) -> None:
    top, section = page.split('id="training"')
    assert "Training raised an alert in r2" in text_of(top)
    assert "r2 , step 12: entropy fell to 0.0010 nats, below 0.01" in text_of(section)


def test_how_each_round_went_stands_in_the_training_section(page: str) -> None:
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", page.split('id="training"')[1], flags=re.DOTALL)
    r1, r2 = (text_of(row).strip() for row in rows[:2])
    assert r1 == "r1 40 nothing that of step 30, the best on the monitor slice 14 0"
    assert r2 == "r2 12 alert at step 12: entropy fell to 0.0010 nats, below 0.01 that of the last step none 1"


def test_a_training_without_alerts_is_not_spoken_of(evidence: Evidence, findings: Findings) -> None:
    calm = replace(evidence, outcomes=dict.fromkeys(evidence.outcomes, small_world.OUTCOMES["r1"]))
    assert "Training raised" not in render_page(calm, findings)
    assert "ALERT" not in render_markdown(calm, findings)


def test_equal_evidence_gives_equal_bytes(evidence: Evidence, findings: Findings, page: str) -> None:
    again = find(evidence)
    assert again == findings
    assert render_page(evidence, again) == page


def test_the_markdown_holds_a_row_a_model_method_and_budget(evidence: Evidence, findings: Findings) -> None:
    text = render_markdown(evidence, findings)
    rows = re.findall(r"^\| (?:base|r1|r2) \| (?:separate|truncate|unconstrained) \|.*$", text, flags=re.MULTILINE)
    assert len(rows) == len(small_world.MODELS) * (2 * len(small_world.THINK) + 1)
    assert findings.headline.sentence in text
    assert "**ALERT in r2**: step 12: entropy fell to 0.0010 nats, below 0.01" in text
    assert "- r1: steps: 40; ended early by: nothing; kept model: that of step 30" in text


def test_the_page_lists_what_met_an_evaluation_problem_and_what_validates_instead_of_training(
    evidence: Evidence, findings: Findings
) -> None:
    met = Overlap(
        split="training",
        source="old exams",
        question="find x",
        met_split="validation",
        met_problem_id="0" * 16,
        met_source="new exams",
        met_question="Find $x$.",
        measure="same words",
        share=1.0,
    )
    contamination = evidence.curation.contamination.model_copy(update={"removed": [met, met]})
    departures = [Departure(source="old exams", validates="new exams", rows=1)]
    curation = evidence.curation.model_copy(update={"contamination": contamination, "departures": departures})
    text = text_of(render_page(replace(evidence, curation=curation), findings))
    assert "1 rows of training sources were turned away" in text
    assert "Unlike in the papers, 1 rows of old exams do not train: new exams validates." in text
    assert "old exams find x new exams in validation Find $x$. same words 1.00" in text
