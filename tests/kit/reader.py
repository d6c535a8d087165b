"""Somebody who reads a report: a real Chromium, its keyboard, its screen and its printer."""

import base64
import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.action_chains import ActionChains

from lanelab.driver.base.programs.find_program import find

SCRIPT_S = 180  # a script that looks at all of a large page takes long on a busy machine


class Reader:
    """One page in one window."""

    def __init__(self, browser: Chrome) -> None:
        self._browser = browser

    def open(
        self,
        page: Path,
        *,
        width: int = 1400,
        height: int = 1000,
        dark: bool = False,
        part: str = "",
        script: bool = True,
    ) -> None:
        self.size(width, height)
        self.colours(dark=dark)
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self._browser.get("about:blank")  # else a part of the same address would be no load
        self._browser.get(page.resolve().as_uri() + part)

    def colours(self, *, dark: bool) -> None:
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def go(self, address: str) -> None:
        """Open a page that is served, in the window as it is."""
        self._browser.get(address)

    def size(self, width: int, height: int = 1000) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """A command of the DevTools."""
        answer: dict[str, Any] = self._browser.execute_cdp_cmd(method, parameters)
        return answer

    def run(self, script: str, *values: object) -> Any:
        return self._browser.execute_script(script, *values)

    def press(self, *keys: str) -> None:
        for key in keys:
            ActionChains(self._browser).send_keys(key).perform()

    def tap(self, selector: str) -> None:
        """With a finger, in the middle of what is found first."""
        script = "const found = document.querySelector(arguments[0]);"
        script += "found.scrollIntoView({behavior: 'instant', block: 'center'});"
        script += "const box = found.getBoundingClientRect();"
        x, y = self.run(script + "return [box.left + box.width / 2, box.top + box.height / 2]", selector)
        self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.call("Emulation.setTouchEmulationEnabled", enabled=False)

    def texts(self, selector: str) -> list[str]:
        """Of all that is found, as it is shown."""
        found = self.run("return [...document.querySelectorAll(arguments[0])].map((each) => each.innerText)", selector)
        return [str(text) for text in found]

    @contextlib.contextmanager
    def another_tab(self) -> Iterator[None]:
        """Everything within happens in a second tab, which is closed afterwards."""
        first = self._browser.current_window_handle
        self._browser.switch_to.new_window("tab")
        try:
            yield
        finally:
            self._browser.close()
            self._browser.switch_to.window(first)

    def complaints(self) -> list[str]:
        """What the browser's console has said since it was asked last."""
        lines: list[dict[str, Any]] = self._browser.execute("getLog", {"type": "browser"})["value"]
        return [str(line["message"]) for line in lines]

    def picture(self, target: Path, *, whole: bool = True) -> None:
        shot = self.call(
            "Page.captureScreenshot", captureBeyondViewport=whole, **({"clip": self._all()} if whole else {})
        )
        target.write_bytes(base64.b64decode(shot["data"]))

    def _all(self) -> dict[str, float]:
        width, height = self.run("const e = document.documentElement; return [e.scrollWidth, e.scrollHeight]")
        return {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}

    def printed(self) -> bytes:
        """The page as a PDF on A4."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])


def pages_of(pdf: bytes) -> int:
    """How many pages a PDF has, as Chromium writes it."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@contextlib.contextmanager
def reader() -> Iterator[Reader]:
    """A browser of its own, which is gone afterwards."""
    options = ChromeOptions()
    options.binary_location = str(find("chromium"))
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    browser = Chrome(options=options, service=ChromeService(str(find("chromedriver"))))
    browser.set_script_timeout(SCRIPT_S)
    try:
        yield Reader(browser)
    finally:
        browser.quit()
