"""The page of `gannet serve` in a real browser: chromium, steered by Playwright.

GANNET names the command, CHROMIUM the browser. Without a browser nothing here runs, and
`scripts/client-tests` says so. SCREENSHOTS names a folder for pictures of the page.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from test_clients import Running, sample

CHROMIUM = os.environ.get("CHROMIUM", "")
if not CHROMIUM:
    pytest.skip("no chromium", allow_module_level=True)

sync_api = pytest.importorskip("playwright.sync_api")
Page = Any
DOCUMENTS = 200
HOSTILE = "<script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>harpoon"


def ask(url: str, body: Any = None, media: str = "application/json") -> Any:
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": media})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = Running(tmp_path_factory.mktemp("indexes"))
    request = urllib.request.Request(
        f"{server.url}/v1/indexes/wiki",
        data=json.dumps({"fields": {"kind": "keyword"}}).encode(),
        headers={"Content-Type": "application/json"},
        method="PUT",
    )
    urllib.request.urlopen(request).close()
    documents = sample()
    for place, document in enumerate(documents):
        document["added"] = f"20{20 + place % 4}-0{1 + place % 9}-15"
    documents.append({"id": "hostile", "title": HOSTILE, "body": HOSTILE, "kind": HOSTILE})
    lines = "".join(json.dumps(document) + "\n" for document in documents).encode()
    written = ask(f"{server.url}/v1/indexes/wiki/documents", lines, "application/x-ndjson")
    assert written["created"] == DOCUMENTS + 1
    yield server.url
    assert server.end() == 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, url: str) -> Iterator[Page]:
    """A page whose requests stay at its server, and which reports no error."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    page.goto(f"{url}/_ui")
    page.wait_for_selector(".hit")
    yield page
    assert page.evaluate("window.hurt") is None
    context.close()
    assert asked and all(one.startswith(url) for one in asked), asked
    # A query that cannot be read is told of by the browser, too.
    wrong = [one for one in wrong if "status of 400" not in one]
    assert not wrong, wrong


def search(url: str, **body: Any) -> Any:
    return ask(f"{url}/v1/indexes/wiki/search", body)


def shown(page: Page) -> list[str]:
    return page.eval_on_selector_all(".hit", "hits => hits.map(hit => hit.dataset.id)")


def settled(page: Page, total: int) -> None:
    """Waits until the page shows the answer to what it was asked last."""
    words = "document" if total == 1 else "documents"
    page.wait_for_function(
        "text => document.getElementById('summary')?.textContent.startsWith(text)",
        arg=f"{total:,} {words} in ",
    )


def test_typing_searches_and_a_value_filters(page: Page, url: str) -> None:
    page.keyboard.press("/")
    page.keyboard.press("Control+A")
    page.keyboard.type("whale sea")
    found = search(url, query="whale sea", facets=["kind"])
    settled(page, found["total"])
    assert shown(page) == [hit["id"] for hit in found["hits"]]
    assert page.locator(".hit em").count() > 0
    page.locator("details[data-column=kind] summary").click()
    page.wait_for_selector("details[data-column=kind] .value")
    told = page.eval_on_selector_all(
        "details[data-column=kind] .value",
        "all => all.map(one => [one.title, one.lastElementChild.textContent])",
    )
    values = found["facets"]["kind"]["values"]
    assert told == [[value["value"], f"{value['count']:,}"] for value in values]
    page.locator("details[data-column=kind] .value").first.click()
    settled(page, values[0]["count"])
    filtered = search(url, query="whale sea", filter=f'kind:"{values[0]["value"]}"')
    assert shown(page) == [hit["id"] for hit in filtered["hits"]]
    # The URL has the state, and the way back is there.
    page.reload()
    settled(page, values[0]["count"])
    page.go_back()
    settled(page, found["total"])


def test_pages_and_orders(page: Page, url: str) -> None:
    page.select_option("#sort", "-place")
    page.wait_for_function("() => location.search.includes('sort=-place')")
    wanted = search(url, sort="-place", offset=10)
    page.get_by_role("button", name="Next →").click()
    first = wanted["hits"][0]["id"]
    page.wait_for_function("id => document.querySelector('.hit').dataset.id === id", arg=first)
    assert shown(page) == [hit["id"] for hit in wanted["hits"]]


def test_requests_find_what_the_page_shows(page: Page, url: str) -> None:
    page.goto(f"{url}/_ui?index=wiki&q=whale%27s+%22the+sea%22&filters=kind:%22odd%22&sort=-place&pane=request")
    page.wait_for_selector("#curl")
    hits = shown(page)
    assert hits
    text = page.locator("#curl").text_content()
    answer = json.loads(subprocess.run(["bash", "-c", text], capture_output=True, check=True).stdout)
    assert [hit["id"] for hit in answer["hits"]] == hits
    text = page.locator("#python").text_content()
    printed = subprocess.run([sys.executable, "-c", text], capture_output=True, check=True, text=True)
    assert printed.stdout.split() == hits
    page.goto(f"{url}/_ui?index=wiki&q=whale+%22the+sea%22&filters=kind:odd&filters=added:[2020+TO+2021]&sort=-place&pane=request")
    page.wait_for_selector("#elasticsearch")
    head, _, body = page.locator("#elasticsearch").text_content().partition("\n")
    answer = ask(url + head.split()[1], json.loads(body))
    assert [hit["_id"] for hit in answer["hits"]["hits"]] == shown(page) != []
    rust = page.locator("#rust").text_content()
    written = Path(__file__).parents[2] / "crates/gannet-server/tests/page_request.rs"
    assert squeezed(rust.partition("let index")[2]) in squeezed(written.read_text())


def squeezed(text: str) -> str:
    return re.sub(r"[\s,]+", "", text)


def test_scores_costs_and_dates(page: Page, url: str) -> None:
    page.fill("#query", "whale")
    found = search(url, query="whale", explain=True)
    settled(page, found["total"])
    page.get_by_role("button", name="Why").nth(2).click()
    page.wait_for_selector(".tree b")
    explained = {str(hit["explanation"]["value"]) for hit in found["hits"]}
    assert page.locator(".tree b").first.text_content() in explained
    page.get_by_role("button", name="Cost").click()
    page.wait_for_selector("#pane table")
    assert "Pages found in memory" in page.locator("#pane").text_content()
    page.wait_for_selector(".bars button")
    counts = page.eval_on_selector_all(".bars button", "all => all.map(one => one.title)")
    assert sum(int(title.split(": ")[1].split()[0]) for title in counts) == search(
        url, query="whale", filter="added:*"
    )["total"]
    bar = next(place for place, title in enumerate(counts) if ": 0 " not in title)
    page.locator(".bars button").nth(bar).click()
    settled(page, int(counts[bar].split(": ")[1].split()[0]))


def test_errors_stand_at_their_place(page: Page) -> None:
    page.fill("#query", "whale AND (sea")
    page.wait_for_selector("#wrong mark")
    assert page.locator("#wrong mark").text_content() == "("
    page.fill("#query", "whale")
    page.wait_for_selector("#wrong", state="hidden")


def test_hostile_documents_stay_text(page: Page, url: str) -> None:
    page.fill("#query", "harpoon onerror")
    page.wait_for_selector(".hit[data-id=hostile]")
    hit = page.locator(".hit[data-id=hostile]")
    assert HOSTILE in hit.locator("h3").text_content()
    assert hit.locator("script, img").count() == 0
    assert page.locator("main script, main img").count() == 0
    page.locator("details[data-column=kind] summary").click()
    page.wait_for_selector("details[data-column=kind] .value")
    page.locator("details[data-column=kind] .value", has_text="script").click()
    settled(page, 1)
    policy = page.evaluate("fetch('/_ui').then(answer => answer.headers.get('Content-Security-Policy'))")
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_analysis_and_figures(page: Page, url: str) -> None:
    page.get_by_role("button", name="Analysis").click()
    page.fill("#text", "Größe of the Whale’s 🐋 tail")
    page.wait_for_selector("#tokens table")
    tokens = ask(f"{url}/v1/indexes/wiki/analyze", {"text": "Größe of the Whale’s 🐋 tail"})["tokens"]
    cells = page.eval_on_selector_all("#tokens tbody tr", "rows => rows.map(row => row.firstElementChild.textContent)")
    assert cells == [token["token"] for token in tokens]
    marked = page.eval_on_selector_all(".tokens span", "all => all.map(one => one.textContent)")
    assert marked[0] == "Größe" and marked[-1] == "tail"
    page.get_by_role("button", name="Index", exact=True).click()
    page.wait_for_selector("#figures table")
    assert f"{DOCUMENTS + 1:,} documents" in page.locator("#figures").text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_it_fits_its_window(browser: Any, url: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for view in ["q=whale+sea&open=kind&pane=why", "q=whale+sea&pane=cost", "q=whale&pane=request", "view=analysis", "view=index"]:
        page.goto(f"{url}/_ui?index=wiki&{view}")
        page.wait_for_selector("#pane > *, #text, #figures table")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if folder := os.environ.get("SCREENSHOTS"):
            name = re.sub(r"\W+", "-", f"{view}-{width}-{scheme}")
            page.screenshot(path=f"{folder}/{name}.png", full_page=True)
    context.close()
