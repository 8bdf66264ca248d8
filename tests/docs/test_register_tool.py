"""The tool of the register pages, in a browser: what is typed, pasted, linked and changed, and how it looks."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import chromium, quiet_page
from conftest import ROOT
from pypfm import Decoded
from pypfm.decoding import decode
from pypfm.ia64.models import MODELS

sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import register_data

pytestmark = pytest.mark.slow

PAGES = {**{pmu: pmu for pmu in MODELS}, "glm": "goldmont"}
TEXT = "#pfm-values"
COMPLAINT = "#pfm-complaint"
# Functions of the tests, in the page.  A card as text: the value of each control, what the register means, digits.
HELPERS = """
    window.typed = (text) => {
        const area = document.querySelector("#pfm-values");
        area.value = text;
        area.dispatchEvent(new Event("input"));
    };
    window.digits = (box) => [...box.querySelectorAll("svg.wide > g")].map((lane) =>
        [...lane.querySelectorAll(".value text")].sort((a, b) => a.getAttribute("x") - b.getAttribute("x"))
            .map((digit) => digit.textContent).join("")).join("");
    window.says = (box) => [...box.querySelectorAll("dl.pfm-says dt")].map((dt) =>
        [dt.textContent.trim(), dt.nextElementSibling.textContent.trim()]);
    window.shown = (card) => ({
        fields: [...card.querySelectorAll("tbody tr")].map(({cells}) => {
            const control = cells[2].firstElementChild;
            const value = control.type === "checkbox" ? Number(control.checked) : control.value;
            return [cells[0].textContent, cells[1].textContent, BigInt(value).toString(), cells[3].textContent !== ""];
        }),
        says: says(card), digits: digits(card), value: card.querySelector(".pfm-edit input").value,
        caption: card.querySelector(".pfm-picture").getAttribute("aria-label"),
    });
    window.put = (control, value) => {
        if (control.type === "checkbox") control.checked = Boolean(value);
        else control.value = String(value);
        control.dispatchEvent(new Event("change"));
    };
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as program:
        yield program


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    with quiet_page(browser, viewport={"width": 1280, "height": 900}) as made:
        made.add_init_script(HELPERS)
        yield made


def go(page: Any, site: Path, pmu: str, values: str = "") -> None:
    page.goto("about:blank")
    page.goto((site / "registers" / f"{PAGES[pmu]}.html").as_uri() + (values and f"#{values}"))


def rows_of(decoded: Decoded, name: str) -> list[list[str]]:
    """What `pypfm decode` says of a register that stands alone, without what its sample or its entry says."""
    (register,) = (r for r in decoded.registers if r.name == name)
    meaning = [] if register.meaning is None else register.meaning.rows()
    return [list(row) for row in (*meaning, *(("note", note) for note in register.notes))]


@pytest.mark.parametrize("pmu", ["montecito", "itanium"])
def test_a_value_of_each_register(page: Any, site: Path, pmu: str) -> None:
    """Fields, meaning and picture of a random value are those of `pypfm decode`."""
    rng = random.Random(f"{pmu} tool")
    go(page, site, pmu)
    values = {name: rng.getrandbits(64) for name in register_data.data(pmu)["registers"]}
    cards = page.evaluate("""(texts) => texts.map((text) => {
        typed("");
        typed(text);
        return shown(document.querySelector(".pfm-card"));
    })""", [f"{name}={value:#x}" for name, value in values.items()])
    for (name, value), card in zip(values.items(), cards, strict=True):
        decoded = decode(pmu, {name: value})
        (register,) = decoded.registers
        assert card["fields"] == [
            [str(f.bit) if f.width == 1 else f"{f.bit + f.width - 1}:{f.bit}", f.name, str(f.value), True]
            for f in register.fields], name
        assert [row for row in rows_of(decoded, name) if row not in card["says"]] == []
        assert card["digits"] == f"{value:064b}"
        assert (card["value"], card["caption"]) == (hex(value), f"{name} = {value:#x}")


def test_codes_of_goldmont(page: Any, site: Path) -> None:
    go(page, site, "glm", "IA32_PERFEVTSEL=0x5301b7&MSR_OFFCORE_RSP_0=0x1000010001")
    first, second = page.evaluate("[...document.querySelectorAll('.pfm-card')].map(shown)")
    decoded = decode("glm", {"code": 0x5301b7, "offcore": 0x1000010001})
    assert [decoded.candidates[0].event, decoded.candidates[0].string] == [text for _, text in first["says"]]
    assert decoded.offcore is not None
    assert second["says"] == [list(row) for row in decoded.offcore.rows()]
    assert (first["digits"], second["digits"]) == (f"{0x5301b7:032b}", f"{0x1000010001:064b}")


@pytest.mark.parametrize("pmu", PAGES)
def test_each_layout_has_its_picture_and_its_words(page: Any, site: Path, pmu: str) -> None:
    go(page, site, pmu)
    found = page.evaluate("""() => {
        const {data} = pfm.tool;
        return Object.entries(data.registers).flatMap(([name, variants]) => Object.keys(variants).map((variant) => {
            const box = pfm.boxOf(data, name, variant);
            return [name, variants[variant], [...box.querySelectorAll("tbody tr")].map((row) => row.cells[1].textContent)];
        }));
    }""")
    layouts = register_data.data(pmu)["layouts"]
    for name, layout, fields in found:
        wanted = [field[0] for field in layouts[layout]]
        assert {f.replace("pmdNext_", "") for f in fields} == {f.partition("ext_")[2] or f for f in wanted}, name


@pytest.mark.parametrize("pmu", ["montecito", "glm"])
def test_each_field_changes_the_value(page: Any, site: Path, pmu: str) -> None:
    rng = random.Random(f"{pmu} fields")
    found = json.loads(json.dumps(register_data.data(pmu)))
    seen: dict[int, str] = {}
    for name, variants in found["registers"].items():
        seen.setdefault(variants[""], name)
    cases = [(name, name_of, bit, width, rng.getrandbits(64) & ~(1 << 13) & (1 << bits_of(found["layouts"][layout])) - 1)
             for layout, name in seen.items() for name_of, bit, width, *_ in found["layouts"][layout]]
    wanted, asked = [], []
    for name, field, bit, width, value in cases:
        put = rng.getrandbits(width)
        wanted.append(f"{name}={value & ~((1 << width) - 1 << bit) | put << bit:#x}")
        label = f"{name} {field}, " + (f"bit {bit}" if width == 1 else f"bits {bit + width - 1}:{bit}")
        asked.append([f"{name}={value:#x}", label, put if width < 32 else hex(put)])
    go(page, site, pmu)
    said = page.evaluate("""(asked) => asked.map(([text, label, value]) => {
        typed(text);
        const control = document.querySelector(`[aria-label="${label}"]`);
        put(control, value);
        return document.querySelector("#pfm-values").value;
    })""", asked)
    assert said == wanted


def bits_of(layout: list[list[Any]]) -> int:
    return sum(field[2] for field in layout)


@pytest.mark.parametrize("pmu", PAGES)
def test_examples_are_taken(page: Any, site: Path, pmu: str) -> None:
    """The button of an example shows what the page shows of it."""
    go(page, site, pmu)
    found = page.evaluate("""() => [...document.querySelectorAll(".pfm-register")].map((box) => {
        box.querySelector("button.pfm-take").click();
        const name = box.querySelector(".pfm-example").dataset.name;
        const card = [...document.querySelectorAll(".pfm-card")].find((c) => c.querySelector("strong").textContent === name);
        return {name, here: digits(box), there: digits(card), says: says(box), more: says(card), hash: location.hash,
                complaint: document.querySelector("#pfm-complaint").textContent, focus: document.activeElement.value};
    })""")
    assert found
    for case in found:
        assert case["complaint"] == ""
        assert case["here"] == case["there"]
        assert f"{case['name']}={case['focus']}" in case["hash"][1:].split("&")
        kept = [row for row in case["says"] if not row[0].startswith("PMD") and pmu != "glm"]
        assert [row for row in kept if row not in case["more"]] == [], case


# ---- as a reader works ---------------------------------------------------------------------------

def test_an_hour_with_the_tool(page: Any, site: Path) -> None:
    """By keyboard: a value, its event, a field, a list, a link to it, and the way back."""
    go(page, site, "itanium2")
    text = page.get_by_label("Registers and values")
    text.focus()
    page.keyboard.type("0x205029")
    page.wait_for_url("**/itanium2.html#PMC4=0x205029")
    assert page.locator(".pfm-status").inner_text().startswith("PMC4 = 0x205029. event: NOPS_RETIRED. levels: kernel, user.")
    event = page.get_by_label("Event of PMC4")
    assert event.input_value() == "NOPS_RETIRED"
    event.fill("cpu_cycles")
    page.keyboard.press("Enter")
    assert text.input_value() == "PMC4=0x201229"
    page.get_by_label("PMC4 thres, bits 22:20").fill("0")
    page.keyboard.press("Tab")
    page.get_by_label("PMC4 plm, bits 3:0").select_option("8")
    page.get_by_label("PMC4 oi, bit 5").focus()
    page.keyboard.press("Space")
    assert text.input_value() == "PMC4=0x1208"
    assert page.evaluate("document.activeElement.ariaLabel") == "PMC4 oi, bit 5"
    page.locator(".pfm-card svg.wide .value text[x='616.0']").last.click()  # bit 1
    assert text.input_value() == "PMC4=0x120a"
    assert page.url.endswith("#PMC4=0x120a")
    text.fill("PMC4=0x1228 PMC5=0x5028, pmc8=0xffff PMC9=1\nPMD4=5")
    summaries = page.locator(".pfm-card summary").all_inner_texts()
    assert [s.split(" = ")[0] for s in summaries] == ["PMC4", "PMC5", "PMC8", "PMC9", "PMD4"]
    assert "event: NOPS_RETIRED" in summaries[1]
    assert page.locator(".pfm-card[open]").count() == 1  # PMC4, which was open
    page.get_by_role("button", name="Remove PMC4").press("Enter")
    assert page.evaluate("document.activeElement.id") == "pfm-values"
    assert page.url.endswith("#PMC5=0x5028&PMC8=0xffff&PMC9=0x1&PMD4=0x5")
    page.get_by_role("button", name="Clear").press("Enter")
    assert page.locator(".pfm-card").count() == 0
    assert "#" not in page.url


def test_a_field_can_change_the_layout(page: Any, site: Path) -> None:
    """The instruction EAR in cache mode has other fields: the focus stays where it was."""
    go(page, site, "itanium2", "PMC10=0x0")
    fields = page.locator(".pfm-card tbody tr")
    before = fields.all_inner_texts()
    page.get_by_label("PMC10 ct").fill("2")
    page.keyboard.press("Enter")
    assert page.get_by_label("Registers and values").input_value() == "PMC10=0x2000"
    assert fields.all_inner_texts() != before
    assert page.evaluate("document.activeElement.ariaLabel").startswith("PMC10 ct")


def test_the_trace_buffer_is_a_choice(page: Any, site: Path) -> None:
    go(page, site, "montecito", "PMC4=0x8")
    choice = page.get_by_label("The trace buffer holds")
    assert not choice.is_visible()
    page.locator(TEXT).fill("PMD48=0x123450000000")
    choice.select_option("ipear")
    assert page.url.endswith("#PMD48=0x123450000000&trace=ipear")
    (entry,) = decode("montecito", {"PMD48": 0x123450000000}, ipear=True).trace
    says = dict(page.evaluate("says(document.querySelector('.pfm-card'))"))
    assert says["entry"] == f"{entry.entry} {entry.address:#x} {entry.text}"


WRONG = {
    "PMC4=-1": "is negative: write a number from 0", "PMC4=0x10000000000000000": "does not fit into 64 bits",
    "PMC99=1": "itanium2 has no register PMC99: it has PMC0-15", "\u202e\u0000\U0001f600=1": "itanium2 has no register",
    "x" * 70_000: "longer than 65536", "=" * 60_000: "no register before", "PMC4=" + "9" * 60_000: "does not fit",
    "1_" * 30_000: "is not a number", "PMC4=" + "[" * 30_000 + "{": "PMC4 has no value",
    "PMC4" + " " * 65_000: "PMC4 has no value: write PMC4=0x1228",
}


def test_wrong_input_is_said_and_nothing_breaks(page: Any, site: Path) -> None:
    """In less than a second, whatever it is; what could be read before stays, pale."""
    go(page, site, "itanium2", "PMC4=0x1228")
    said = page.evaluate("""(texts) => texts.map((text) => {
        const start = performance.now();
        typed(text);
        const area = document.querySelector("#pfm-values");
        area.dispatchEvent(new Event("change"));
        return [document.querySelector("#pfm-complaint").textContent, area.getAttribute("aria-invalid"), performance.now() - start];
    })""", list(WRONG))
    for (text, wanted), (complaint, invalid, milliseconds) in zip(WRONG.items(), said, strict=True):
        assert wanted in complaint, text[:20]
        assert len(complaint) < 200
        assert invalid == "true"
        assert milliseconds < 1000
    assert page.locator(".pfm-cards.pfm-stale .pfm-card").count() == 1
    assert page.url.endswith("#PMC4=0x1228")
    page.locator(TEXT).fill("PMC4=0x8")
    assert page.locator(COMPLAINT).inner_text() == ""
    assert page.locator(".pfm-stale").count() == 0
    for field, text, wanted in (("PMC4 thres", "8", "does not fit into 3 bits: write a number from 0 to 0x7"),
                                ("PMC4 es", "", "PMC4 es has no value: write a number from 0 to 0xff"),
                                ("Value of PMC4", "0x1g", "PMC4: 0x1g is not a number"),
                                ("Event of PMC4", "NO_SUCH", "NO_SUCH is no event of PMC4: choose one of the list")):
        page.get_by_label(field).fill(text)
        page.keyboard.press("Enter")
        assert wanted in page.locator(".pfm-card .pfm-complaint").inner_text()
        assert page.locator(TEXT).input_value() == "PMC4=0x8"


def test_a_complaint_waits_for_a_pause(page: Any, site: Path) -> None:
    go(page, site, "itanium2")
    page.locator(TEXT).focus()
    page.keyboard.type("PMC4=")
    assert page.locator(COMPLAINT).inner_text() == ""
    page.wait_for_function("document.querySelector('#pfm-complaint').textContent.includes('PMC4 has no value')")


@pytest.mark.parametrize(("hash_", "text", "complaint"), [
    ("PMC4=0x1228&PMC5=0x5028", "PMC4=0x1228 PMC5=0x5028", ""), ("pmc4%3D4648", "PMC4=0x1228", ""),
    ("PMC4=%zz", "PMC4=%zz", "PMC4: %zz is not a number"), ("a=<img src=x onerror=alert(1)>", None, "has no register a"),
])
def test_links(page: Any, site: Path, hash_: str, text: str | None, complaint: str) -> None:
    go(page, site, "itanium2", "itanium2-PMC8")
    assert page.locator(TEXT).input_value() == ""
    page.evaluate("(hash) => { location.hash = hash; }", hash_)
    page.wait_for_function("document.querySelector('#pfm-values').value !== ''")
    assert complaint in page.locator(COMPLAINT).inner_text()
    assert bool(complaint) == bool(page.locator(COMPLAINT).inner_text())
    if text is not None and not complaint:
        assert page.evaluate("pfm.written(pfm.tool.state)") == text


def test_the_picture_of_the_first_page_leads_to_the_tool(page: Any, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    assert page.locator("article [role=img]").get_attribute("aria-label") == (
        "PMC4 = 0x1228: ism 0x0; enable 0x0; thres 0x0; umask 0x0; es 0x12; pm 0x0; oi 0x1; ev 0x0; plm 0x8."
        " event CPU_CYCLES, levels user, system-wide no")
    drawn = page.evaluate("digits(document.querySelector('.pfm-picture'))")
    assert drawn == f"{0x1228:032b}"
    page.get_by_role("link", name="Change PMC4").click()
    page.locator(".pfm-card").wait_for()
    assert page.evaluate("digits(document.querySelector('.pfm-card'))") == f"{0x1228:064b}"


# ---- how it looks, and what is read aloud -----------------------------------------------------------

ALL = {pmu: "&".join(f"{name}=0x1234567890abcdef" for name in list(register_data.data(pmu)["registers"])[::9])
       for pmu in ("montecito", "glm")}
# The contrast between the text of an element and what is below it, by the rule of the WCAG.
CONTRAST = """(selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility()).map((element) => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => parts(colour).slice(0, 3).map((c) => c / 255)
        .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    let below = element;
    while (below.parentElement && (parts(getComputedStyle(below).backgroundColor)[3] ?? 1) < 0.5) below = below.parentElement;
    const [a, b] = [getComputedStyle(element).color, getComputedStyle(below).backgroundColor].map(light);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
})"""


@pytest.mark.parametrize(("pmu", "scheme", "width"), [("montecito", "dark", 360), ("glm", "light", 360)])
def test_it_fits_and_can_be_read(browser: Any, site: Path, pmu: str, scheme: str, width: int) -> None:
    with quiet_page(browser, viewport={"width": width, "height": 800}, color_scheme=scheme) as page:
        go(page, site, pmu, ALL[pmu])
        page.evaluate("for (const card of document.querySelectorAll('.pfm-card')) card.open = true")
        page.locator(".pfm-card tbody tr").last.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        out = page.evaluate("""() => [...document.querySelectorAll(".pfm-tool, .pfm-card *:not(svg *)")].filter((e) =>
            e.checkVisibility() && !e.closest("thead") && e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML)""")
        assert out == []
        page.locator(TEXT).fill("PMC4=zwölf")
        page.locator(TEXT).blur()
        assert page.locator(COMPLAINT).inner_text() != ""
        page.evaluate("document.querySelector('.pfm-stale').classList.remove('pfm-stale')")
        ratios = page.evaluate(CONTRAST, ".pfm-tool :is(label, p, input, textarea, select, button, td, dt, dd, summary)")
        assert len(ratios) > 50
        assert min(ratios) >= 4.5


def test_all_controls_have_names(page: Any, site: Path) -> None:
    go(page, site, "montecito", ALL["montecito"] + "&PMD48=0x1&PMC4=0x8")
    page.evaluate("for (const card of document.querySelectorAll('.pfm-card')) card.open = true")
    names = page.evaluate("""() => [...document.querySelectorAll(".pfm-tool :is(input, textarea, select, button)")].map((e) =>
        e.ariaLabel || [...e.labels].map((label) => label.innerText).join() || e.textContent)""")
    assert all(name.strip() for name in names)
    assert len(set(names)) == len(names)
    assert page.locator("[role=status][aria-live=polite]").count() == 1
    assert page.get_by_role("region", name="Decode values").count() == 1
    described = page.locator(TEXT).get_attribute("aria-describedby").split()
    assert all(page.locator(f"#{i}").count() == 1 for i in described)


@pytest.mark.parametrize("pmu", ["montecito", "glm"])
def test_digits_do_not_touch_the_next_row(page: Any, site: Path, pmu: str) -> None:
    """There is a gap between the boxes of the texts, which are higher than digits are."""
    go(page, site, pmu)
    gaps = """() => [...document.querySelectorAll(".pfm-picture svg")].filter((s) => s.checkVisibility())
        .flatMap((svg) => [...svg.children].slice(1).map((lane, i) =>
            lane.querySelector(".bits").getBoundingClientRect().top
            - svg.children[i].querySelector(".value").getBoundingClientRect().bottom))"""
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        found = page.evaluate(gaps)
        assert len(found) > 5
        assert min(found) >= 1


def test_without_scripts_nothing_is_seen_of_it(browser: Any, site: Path) -> None:
    with quiet_page(browser, java_script_enabled=False) as page:
        go(page, site, "montecito", "PMC4=0x1228")
        assert not page.locator(".pfm-tool").is_visible()
        assert page.locator("button.pfm-take, textarea").count() == 0
        assert page.locator(".pfm-picture").first.is_visible()
        assert page.locator("table.pfm-fields").first.is_visible()
        assert "{" not in page.locator("article").inner_text().partition(">>>")[0]
