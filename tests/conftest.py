"""What all tests share: the random seed of a run, the folder of data beside the repository, and a browser."""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=50)
settings.register_profile("thorough", max_examples=1000)  # pytest --hypothesis-profile=thorough
settings.load_profile("quick")

sys.path.insert(0, str(Path(__file__).parent))

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # behind nohup or &: commands under test must hear Ctrl-C

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture
def shared_traces() -> Path:
    """The folder of traces that is too large for the repository."""
    if not (SHARED / "traces").is_dir():
        pytest.skip("the folder ../shared/traces is not here")
    return SHARED / "traces"


@pytest.fixture(scope="session")
def _chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests of a process: it takes a second to start."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (pip install -e .[test])")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no chromium or chromedriver here (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("chromium")
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars",
                 f"user-data-dir={profile}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()


@pytest.fixture
def browser(_chromium: Any) -> Iterator[Any]:
    """Headless Chromium, driven by selenium, on an empty page; skips where it is missing.

    `browser.get(path.as_uri())` opens a file, `browser.get_log("browser")` has what the console said.
    """
    _chromium.get("about:blank")
    _chromium.get_log("browser")
    yield _chromium
    _chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    _chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
