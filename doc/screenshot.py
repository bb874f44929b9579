#!/usr/bin/env python3
"""screenshot.py URL PNG SECONDS PROFILE: what headless Chromium shows of a page so
long after it was opened. Chromium is asked by a pipe (--remote-debugging-pipe),
as its own --screenshot does not wait for a page that is alive."""
import base64
import json
import os
import subprocess
import sys
import time


class Chromium:
    """Commands end with a NUL; it reads descriptor 3 and writes 4."""

    def __init__(self, profile):
        its_in, self.out = os.pipe()
        self.into, its_out = os.pipe()
        command = ("exec chromium --headless=new --no-sandbox --disable-gpu"
                   " --hide-scrollbars --remote-debugging-pipe"
                   f" --window-size=1280,920 '--user-data-dir={profile}'"
                   f" 3<&{its_in} 4>&{its_out} 2>/dev/null")
        self.child = subprocess.Popen(["sh", "-c", command],
                                      pass_fds=(its_in, its_out))
        self.left, self.last = b"", 0

    def ask(self, method, session=None, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.left:
                got = os.read(self.into, 65536)
                if not got:
                    sys.exit("screenshot.py: Chromium has ended")
                self.left += got
            line, self.left = self.left.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.last:
                return answer["result"]


def main():
    url, png, seconds, profile = sys.argv[1:]
    browser = Chromium(profile)
    target = browser.ask("Target.createTarget", url=url)["targetId"]
    session = browser.ask("Target.attachToTarget", targetId=target,
                          flatten=True)["sessionId"]
    browser.ask("Emulation.setDeviceMetricsOverride", session, width=1280,
                height=920, deviceScaleFactor=1, mobile=False)
    time.sleep(float(seconds))
    shot = browser.ask("Page.captureScreenshot", session, format="png")
    with open(png, "wb") as f:
        f.write(base64.b64decode(shot["data"]))
    browser.ask("Browser.close")
    browser.child.wait()


main()
