"""The page in a real browser: it renders, sorts, switches and prints, asks nobody for anything, and all can use it.

It needs Chromium and its driver (Debian: chromium, chromium-driver), and for accessibility axe-core (``npm install
axe-core``), of which COMBOOST_AXE names the file axe.min.js.
"""

import json
import os
import shutil
from pathlib import Path

import pytest
from report.summaries import ODD_NAMES, make_summary

from comboost.report._render.page import render_page

CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
DRIVER = shutil.which("chromedriver")
AXE = Path(os.environ.get("COMBOOST_AXE", "axe.min.js"))
LAYOUT = Path(__file__).with_name("layout.js").read_text()
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,900",
]  # fmt: skip
PHONE, DESK = 360, 1280

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="Chromium or chromedriver is not installed: nothing can show the page"
)


@pytest.fixture(scope="module")
def driver():
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page of odd names, as a file."""
    features = [*ODD_NAMES, *(f"feature {number}" for number in range(10))]
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_page(make_summary(ODD_NAMES, features=features)), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(driver, address):
    """The page, loaded anew at the width of a desk, in light colours."""
    appear(driver, DESK, "light")
    driver.get(address)
    return driver


def appear(driver, width, colours, media=""):
    """Make the browser a device of some width, whose owner likes some colours."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wishes = {"prefers-color-scheme": colours, "prefers-reduced-motion": "reduce"}  # a click must not meet what moves
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def find(driver, selector):
    return driver.find_element("css selector", selector)


def column_of(driver, column):
    """The values of a column of the table of recalls, as they stand."""
    script = """
        const cells = [...document.querySelectorAll("#recall-table tbody tr")].map((row) => row.cells[arguments[0]]);
        return cells.map((cell) => cell.dataset.value ?? cell.textContent);
    """
    return driver.execute_script(script, column)


def shown_matrices(driver):
    """The captions of the matrices that can be seen."""
    script = """
        const panels = [...document.querySelectorAll(".panel")].filter((panel) => panel.checkVisibility());
        return panels.map((panel) => panel.querySelector("caption").textContent);
    """
    return driver.execute_script(script)


def open_details(driver):
    driver.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")


def background(driver):
    return driver.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_page_renders_without_errors_or_requests(driver, address):
    for kind in ("browser", "performance"):
        driver.get_log(kind)
    driver.get(address)
    assert find(driver, "h1").is_displayed()
    assert driver.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = {each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"}
    assert {url for url in asked if not url.startswith("data:")} <= {address}


def test_class_that_looks_like_a_script_is_text(page):
    assert "<script>alert(1)</script>" in find(page, "#recall-table").text
    assert page.execute_script("return document.scripts.length") == 1
    assert page.execute_script("return document.images.length") == 0


def test_click_sorts_and_a_third_one_restores(page):
    button = find(page, "#recall-table th:nth-child(3) button")
    header = find(page, "#recall-table th:nth-child(3)")
    before = column_of(page, 2)
    for order, expected in [
        ("ascending", sorted(before, key=float)),
        ("descending", sorted(before, key=float, reverse=True)),
        ("none", before),
    ]:
        button.click()
        assert header.get_attribute("aria-sort") == order
        assert column_of(page, 2) == expected


def test_keyboard_sorts(page):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    header = find(page, "#recall-table th:nth-child(2)")
    find(page, "#recall-table th:nth-child(2) button").send_keys(keys.ENTER)
    assert header.get_attribute("aria-sort") == "ascending"
    assert column_of(page, 1) == sorted(column_of(page, 1), key=float)
    page.switch_to.active_element.send_keys(keys.SPACE)
    assert header.get_attribute("aria-sort") == "descending"
    assert page.switch_to.active_element == find(page, "#recall-table th:nth-child(2) button")


def test_what_is_not_known_is_sorted_last(driver, tmp_path):
    summary = make_summary(["a", "b", "c"])
    summary["classes"][0]["models"][0] |= {"recall": None, "interval": None}
    path = tmp_path / "page.html"
    path.write_text(render_page(summary), encoding="utf-8")
    driver.get(path.as_uri())
    for _ in range(2):
        find(driver, "#recall-table th:nth-child(3) button").click()
        assert column_of(driver, 2)[-1] == ""


def test_switches_show_one_matrix_and_arrows_move_them(page):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    seen = [shown_matrices(page)]
    for press in (keys.RIGHT, keys.RIGHT):
        find(page, "[name=subject]:checked").send_keys(press)
        seen.append(shown_matrices(page))
    find(page, "[name=unit]:checked").send_keys(keys.RIGHT)
    seen.append(shown_matrices(page))
    assert seen == [
        ["Confusion matrix of the model, in percent of the true class"],
        ["Confusion matrix of the baseline, in percent of the true class"],
        ["Confusion matrix of the model minus the baseline, in percentage points"],
        ["Confusion matrix of the model minus the baseline, in samples"],
    ]


def test_filter_leaves_the_classes_that_were_asked_for(page):
    find(page, "[data-table=importance-table] input").send_keys("EMOJI")
    rows = page.find_elements("css selector", "#importance-table tbody tr")
    assert [row.find_element("css selector", "th").text for row in rows if row.is_displayed()] == [ODD_NAMES[5]]
    assert find(page, "[data-table=importance-table] output").text == f"1 of {len(ODD_NAMES)} classes"


def test_copy_button_copies_the_code(page):
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    find(page, ".code button").click()
    copied = page.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied == make_summary(ODD_NAMES)["reproduction"]["code"].rstrip("\n") + "\n"


def test_dark_mode_follows_the_system_and_the_switch(page):
    light = background(page)
    appear(page, DESK, "dark")
    dark = background(page)
    assert dark != light
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    find(page, "#colours-system").send_keys(keys.RIGHT)
    assert background(page) == light
    find(page, "#colours-light").send_keys(keys.RIGHT)
    appear(page, DESK, "light")
    assert background(page) == dark


def test_page_is_whole_without_scripts(driver, address):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(address)
        text = find(driver, "main").text
        for name in (
            "<script>alert(1)</script>",
            "Parameters of the model that differ from their defaults",
            "load_model",
        ):
            assert name in text
        assert not driver.find_elements("css selector", "th button, .bar")
        assert not find(driver, ".filter").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nothing_is_cut_off_or_lies_upon_something(page, width):
    appear(page, width, "light")
    open_details(page)
    assert page.execute_script(LAYOUT) == []


@pytest.mark.parametrize(
    ("colours", "rules"), [("light", None), ("dark", ["color-contrast"])]
)  # all others see no colour
def test_everybody_can_use_the_page(page, colours, rules):
    if not AXE.is_file():
        pytest.skip("axe-core is not there: COMBOOST_AXE names no file axe.min.js")
    appear(page, DESK, colours)
    open_details(page)
    page.execute_script(AXE.read_text(encoding="utf-8") + "; window.axe = axe")
    script = """
        const [rules, done] = arguments;
        const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
        axe.run(document, options).then(done, (error) => done(String(error)));
    """
    result = page.execute_async_script(script, rules)
    assert [(each["id"], each["nodes"][0]["html"]) for each in result["violations"]] == []


def test_paper_shows_everything_but_the_buttons(page):
    appear(page, 700, "dark", media="print")
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert page.execute_script("return [...document.querySelectorAll('details')].every(each => each.open)")
    assert len(shown_matrices(page)) == 3  # of the unit that was chosen
    for selector in ("nav", ".switch", ".bar", ".filter"):
        assert not find(page, selector).is_displayed()
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    assert background(page) == "rgba(0, 0, 0, 0)"
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    assert not page.execute_script("return [...document.querySelectorAll('details')].some(each => each.open)")
