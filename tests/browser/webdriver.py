# SPDX-License-Identifier: MIT
"""A headless Chromium by way of chromedriver and the WebDriver protocol, with Python's own library alone."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


def find_browser():
    """(chromium, chromedriver), or None where one is missing."""
    browser = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Browser:
    """One window. Use it in a with statement: the processes end with it."""

    def __init__(self, programs):
        browser, driver = programs
        self._folder = tempfile.mkdtemp(prefix="pgtune-browser-")
        environment = dict(os.environ, HOME=self._folder)
        self._process = subprocess.Popen([driver, "--port=0", "--log-level=SEVERE"], stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True, env=environment)
        port = None
        for line in self._process.stdout:
            if "started successfully on port" in line:
                port = line.rsplit(" ", 1)[1].strip().rstrip(".")
                break
        if port is None:
            raise RuntimeError("chromedriver did not start")
        self._base = f"http://127.0.0.1:{port}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--force-color-profile=srgb", f"--user-data-dir={self._folder}/profile"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"binary": browser, "args": arguments},
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "OFF"}}
        session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = "/session/" + session["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", self._session)
        finally:
            self._process.terminate()
            self._process.wait(10)
            shutil.rmtree(self._folder, ignore_errors=True)

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].splitlines()[0]) from error

    def devtools(self, command, **parameters):
        return self._call("POST", self._session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def view(self, width, height, dark=False, media=""):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.devtools("Emulation.setEmulatedMedia", media=media,
                      features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url, until="return document.documentElement.getAttribute('data-ready') === 'true'"):
        self._call("POST", self._session + "/url", {"url": url})
        self.wait(until)

    def wait(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > end:
                raise RuntimeError("the page never came to: " + condition + "; it says " + str(self.messages()))
            time.sleep(0.02)

    def run(self, script, *arguments):
        return self._call("POST", self._session + "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, key):
        """One key on whatever has the focus; names as of KeyboardEvent.key."""
        code = {"Enter": 13, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self.devtools("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.devtools("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def messages(self):
        """What the console got since the last call."""
        return [f"{m['level']}: {m['message']}" for m in self._call("POST", self._session + "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        """The whole page, however long."""
        picture = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
