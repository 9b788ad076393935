#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pgtune's page in a real browser: opens without a word on the console, sorts, filters, is used by keyboard, has charts
whose labels keep clear of each other at 1280 and 400 pixels, and what a hostile database says stays text.

Ends with 3 where no Chromium with its driver is installed. Screenshots go to --out."""
import argparse
import importlib.util
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from webdriver import Browser, find_browser

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'&{{@SCRIPT@"

# Every chart in view: its title, marks, whether its axes say what they are, and labels that touch or leave it.
CHARTS = """
const touching = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
return [...document.querySelectorAll('svg.chart')].map((svg) => {
  const frame = svg.getBoundingClientRect();
  const labels = [...svg.querySelectorAll('text')].map((t) => ({ text: t.firstChild.textContent, box: t.getBoundingClientRect() }));
  const overlaps = [], outside = [];
  labels.forEach((a, i) => {
    if (a.box.left < frame.left - 1 || a.box.right > frame.right + 1 || a.box.top < frame.top - 1 || a.box.bottom > frame.bottom + 1) outside.push(a.text);
    labels.slice(i + 1).forEach((b) => { if (touching(a.box, b.box)) overlaps.push(a.text + ' | ' + b.text); });
  });
  return { title: svg.closest('figure').dataset.chart, marks: svg.querySelectorAll('.mark, .thread').length, labels: labels.length,
    axes: svg.querySelectorAll('.axis').length, described: (svg.getAttribute('aria-label') || '').length > 20, width: frame.width, overlaps, outside };
});
"""
ROWS = "return [...document.querySelectorAll('#problems tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"


def pgtune(*words, **environment):
    done = subprocess.run([options.pgtune, *words], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        raise RuntimeError(f"pgtune {' '.join(words)}: {done.stderr}")


def page_of(name, database, *more):
    path = os.path.join(folder, name + ".html")
    pgtune("report", "--db", database, "--html", path, *more)
    return "file://" + path


def hostile_copy(database):
    """With markup in every text that the page shows."""
    path = os.path.join(folder, "hostile.db")
    pgtune("db", "copy", "--db", database, "-o", path)
    connection = sqlite3.connect(path)
    for table, column in (("devices", "name"), ("outcomes", "reason"), ("sessions", "command_line"), ("environments", "host_os"),
                          ("environments", "pgtune_version"), ("templates", "name"), ("variants", "key")):
        # A suffix of its own for each row, as some are unique.
        connection.execute(f"UPDATE {table} SET {column} = ? || rowid", (HOSTILE,))
    connection.execute("UPDATE devices SET info_json = json_set(info_json, '$.name', ?)", (HOSTILE,))
    connection.execute("UPDATE best SET answer_json = json_set(answer_json, '$.notes', json_array(?), '$.baseline.library', ?)",
                       (HOSTILE, HOSTILE))
    connection.commit()
    connection.close()
    return path


def hostile_counters(database):
    """With markup in what a profiler said."""
    path = os.path.join(folder, "hostile-counters.db")
    pgtune("db", "copy", "--db", database, "-o", path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE kernel_counters SET counters_json = json_set(counters_json, '$.kernel', ?)", (HOSTILE,))
    connection.commit()
    connection.close()
    return path


# Pages that rooms make, and what they check of them: PAGES, make_pages() and Checks.
root = pathlib.Path(__file__).resolve().parents[2]
rooms = []
for path in sorted(root.glob("*/tests/page_checks.py")):
    spec = importlib.util.spec_from_file_location(path.parts[-3] + "_page_checks", path)
    rooms.append(importlib.util.module_from_spec(spec))
    spec.loader.exec_module(rooms[-1])


class Page(*(room.Checks for room in rooms), unittest.TestCase):
    def run_script(self, script):
        return browser.run(script)

    def assert_quiet(self):
        self.assertEqual(browser.messages(), [])

    def visit(self, url, width=1280, dark=False):
        browser.view(width, 900, dark)
        browser.open("about:blank", "return true")
        browser.open(url)

    def check_charts(self, expected):
        charts = browser.run(CHARTS)
        self.assertTrue(expected <= {chart["title"] for chart in charts}, [chart["title"] for chart in charts])
        for chart in charts:
            with self.subTest(chart=chart["title"], width=chart["width"]):
                self.assertGreater(chart["marks"], 0)
                self.assertGreaterEqual(chart["axes"], 1)
                self.assertGreaterEqual(chart["labels"], 3)
                self.assertTrue(chart["described"])
                self.assertEqual(chart["overlaps"], [])
                self.assertEqual(chart["outside"], [])

    def check_accessibility(self):
        if axe is None:
            return
        browser.devtools("Runtime.evaluate", expression=axe)  # the policy lets no script of the page load it
        found = browser.devtools("Runtime.evaluate", awaitPromise=True, returnByValue=True, expression="axe.run().then((found) =>"
                                 " found.violations.map((rule) => [rule.impact, rule.id, rule.nodes.map((node) => node.html.slice(0, 200))]))")
        self.assertEqual(found["result"]["value"], [])

    def look(self, name, expected, url=None):
        url = url or pages[name]
        for width in (1280, 400):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.visit(url, width, dark)
                    self.check_charts(expected)
                    # What is wider than the window scrolls by itself, not the page.
                    self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), width)
                    self.check_accessibility()
                    browser.run("window.scrollTo(0, 0)")
                    browser.screenshot(os.path.join(options.out, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
                    self.assert_quiet()

    def test_charts_of_a_suite(self):
        self.look("suite", url=pages["suite"] + "#problem-30", expected={
            "Roofline of DRAM, L2 and arithmetic", "Speed against cuBLASLt’s best, by size", "Arithmetic", "Memory", "Best so far",
            "The final’s samples", "SM clock"})

    def test_charts_of_settled_samples_energy_and_a_comparison(self):
        self.look("energy", {"Roofline of DRAM, L2, shared memory and arithmetic", "Joules against time, both over the baseline’s best", "Time against energy", "Speed now over speed before, by size",
                                               "Time of the same variant on other boards"})
        self.look("settled", {"Power"})

    def test_charts_of_families(self):
        self.look("families", {"1..128x512x512 f32 nn"})
        self.assertEqual(browser.run("return document.getElementById('made').textContent.includes('1 family')"), True)
        intervals = int(browser.run("return document.querySelector('#families tbody td:nth-child(3)').textContent"))
        self.assertEqual(browser.run("return document.querySelectorAll('#families .roof').length"), intervals)
        self.assertEqual(browser.run("return document.querySelectorAll('#families svg.chart .mark:not(.hollow)').length"), intervals)

    def test_shows_counters_and_what_an_operation_is_compared_with(self):
        for words, baseline in (("512x512x512", "cuBLASLt"), ("softmax", "copy")):
            self.visit(pages["energy"])
            browser.run("[...document.querySelectorAll('#problems tbody button')].find((b) => b.textContent.includes(arguments[0])).click()", words)
            problem = browser.run("return document.getElementById('problem').textContent")
            self.assertIn("Hardware counters", problem)
            self.assertIn(f"moves 0.60 times {baseline}'s bytes to and from DRAM", problem)
            self.assertIn(f"× {baseline} best", problem)
        kinds = browser.run("return [...document.querySelectorAll('#overview tbody tr')].map((row) => row.cells[0].textContent + ', ' + row.cells[2].textContent)")
        self.assertEqual(kinds, ["f32, cuBLASLt", "softmax bf16, copy"])
        self.assert_quiet()

    def test_begins_with_the_answer(self):
        self.visit(pages["suite"])
        rows = browser.run(ROWS)
        said = browser.run("return document.querySelector('.headline').textContent")
        slower = sum(row[1] == "slower" for row in rows)
        self.assertTrue(said.startswith(f"{len(rows)} problems: "), said)
        self.assertIn(f", {slower} slower. ", said)
        self.assertRegex(said, r"\. 1\.\d{3}× the speed of cuBLASLt’s best \(geometric mean; median 1\.\d{3}, 0\.\d{3} to 1\.\d{3}\)\.$")
        marked = "return document.querySelectorAll('#problems tr[aria-current]').length"
        self.assertEqual(browser.run(marked), 0)
        browser.run("document.querySelector('#problems tbody button').click()")
        self.assertEqual(browser.run(marked), 1)

    def test_no_column_is_cut_off_and_a_phone_shows_the_verdict(self):
        edges = "const box = document.querySelector('#problems .scroll').getBoundingClientRect(); return [box.right, ...[...document.querySelectorAll('#problems tbody td:nth-child(' + arguments[0] + ')')].map((cell) => cell.getBoundingClientRect().right)]"
        for name in ("energy", "settled", "suite"):
            for width, column in ((1280, "n"), (400, "2")):
                with self.subTest(name=name, width=width):
                    self.visit(pages[name], width)
                    right, *cells = browser.run(edges, column)
                    self.assertLessEqual(max(cells), right)

    def test_one_problem_is_words_and_not_charts_of_a_point(self):
        self.visit(pages["one"])
        self.assertEqual([chart["title"] for chart in browser.run(CHARTS) if chart["marks"] < 2], [])
        said = browser.run("return document.querySelector('#overview figure').textContent")
        self.assertRegex(said, r"512x512x512 f32 nn: 1\.\d{3} \(1\.\d{3}–1\.\d{3}\) × cuBLASLt best: faster$")

    def test_a_problem_has_its_commands_and_parameters_beside_the_baselines(self):
        self.visit(pages["settled"])
        tiles = browser.run("return [...document.querySelectorAll('#problem .tile span')].map((tile) => tile.textContent)")
        self.assertEqual(len(tiles), 4, tiles)
        parameters = browser.run("return [...document.querySelectorAll('#problem [aria-label=Parameters] tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        self.assertRegex(" ".join(parameters[0]), r"^tile \d+x\d+ \d+x\d+$")
        commands = browser.run("return document.querySelector('#problem pre').textContent").split("\n")
        self.assertTrue(commands[0].startswith("pgtune search --shape "), commands)
        self.assertTrue(commands[1].startswith("pgtune export header --shape "), commands)
        browser.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        browser.run("document.querySelector('.commands button').click()")
        browser.wait("return document.querySelector('.commands button').textContent === 'Copied'")
        self.assert_quiet()

    def test_a_comparison_begins_with_what_changed_most(self):
        self.visit(pages["energy"])
        rows = browser.run("return [...document.querySelectorAll('#comparison tbody tr')].map((row) => [row.className, row.cells[1].textContent, Math.abs(Math.log(Number(row.cells[2].textContent)))])")
        self.assertEqual([noise == "noise" for noise, *_ in rows], [change in ("held", "unclear") for _, change, _ in rows])
        self.assertEqual(rows, sorted(rows, key=lambda row: (row[0] == "noise", -row[2])))

    def test_sorts(self):
        self.visit(pages["suite"])
        rows = browser.run(ROWS)
        names = browser.run("return [...document.querySelectorAll('#problems thead button')].map((b) => b.textContent)")
        column = names.index("× best")
        for direction in ("descending", "ascending"):
            browser.run("document.querySelectorAll('#problems thead button')[arguments[0]].click()", column)
            self.assertEqual(browser.run("return document.querySelectorAll('#problems thead th')[arguments[0]].getAttribute('aria-sort')", column), direction)
            ratios = [float(row[column]) for row in browser.run(ROWS)]
            self.assertEqual(ratios, sorted(ratios, reverse=direction == "descending"))
            self.assertEqual(len(ratios), len(rows))
        self.assertGreater(ratios[-1], ratios[0])
        self.assert_quiet()

    def test_filters(self):
        self.visit(pages["suite"])
        every, marks = len(browser.run(ROWS)), browser.run(CHARTS)[0]["marks"]
        set_words = ("const input = document.querySelector('input[type=search]'); input.value = arguments[0];"
                     "input.dispatchEvent(new Event('input', { bubbles: true }))")
        browser.run(set_words, "4096X4096 TN")
        rows = browser.run(ROWS)
        self.assertTrue(0 < len(rows) < every, len(rows))
        for row in rows:
            self.assertIn("4096x4096", row[0])
            self.assertIn("tn", row[0])
        self.assertLess(browser.run(CHARTS)[0]["marks"], marks)
        self.assertEqual(browser.run("return document.querySelector('output').textContent"), f"{len(rows)} of {every} problems")
        browser.run(set_words, "nothing is called so")
        self.assertEqual(browser.run(ROWS), [])
        self.assertIn("No problem passes the filter", browser.run("return document.getElementById('charts').textContent"))
        browser.run(set_words, "")
        choose = "const s = [...document.querySelectorAll('.filters select')].find((s) => s.parentNode.textContent.startsWith(arguments[0])); s.value = arguments[1]; s.dispatchEvent(new Event('change'))"
        browser.run(choose, "verdict", "slower")
        slower = browser.run(ROWS)
        self.assertTrue(0 < len(slower) < every)
        self.assertTrue(all("slower" in row for row in slower))
        self.assertIn(slower[0][0], browser.run("return document.querySelector('#overview svg.chart').textContent"))  # losses are named
        self.assert_quiet()

    def test_is_used_by_keyboard(self):
        self.visit(pages["suite"])
        before = browser.run("return document.getElementById('problem-title').textContent")
        browser.run("document.querySelector('#overview svg.chart').focus()")
        for _ in range(5):
            browser.press("ArrowRight")
        tip = browser.run("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent")
        self.assertIn("cuBLASLt best", tip)
        browser.press("Enter")
        after = browser.run("return document.getElementById('problem-title').textContent")
        self.assertEqual(after, tip.split("\n")[0])
        self.assertNotEqual(after, before)
        self.assertEqual(browser.run("return document.activeElement.id"), "problem-title")
        # A row's button too, and what it shows can be linked to.
        browser.run("document.querySelectorAll('#problems tbody button')[3].focus()")
        browser.press("Enter")
        shown = browser.run("return [document.getElementById('problem-title').textContent, location.hash]")
        self.visit(pages["suite"] + shown[1])
        self.assertEqual(browser.run("return document.getElementById('problem-title').textContent"), shown[0])
        # Whatever can be used has a name.
        nameless = browser.run("return [...document.querySelectorAll('button, select, input, a, summary, [tabindex=\"0\"]')].filter((e) =>"
                               " !(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length))).length")
        self.assertEqual(nameless, 0)
        self.assert_quiet()

    def test_prints(self):
        landscape = 1047  # what the margins leave of A4, at 96 pixels an inch
        for name in (*(name for room in rooms for name in room.PAGES), "energy", "settled", "suite"):
            browser.view(landscape, 700, dark=True, media="print")
            browser.open(pages[name])
            self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), landscape, name)
        self.assertEqual(browser.run("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(browser.run("return getComputedStyle(document.querySelector('.filters')).display"), "none")
        pdf = browser.devtools("Page.printToPDF", printBackground=False)["data"]
        self.assertGreater(len(pdf), 50000)
        self.assert_quiet()

    def test_a_hostile_database_stays_text(self):
        for width in (1280, 400):
            self.visit(pages["hostile"], width)
            for row in range(3):
                browser.run("document.querySelectorAll('#problems tbody button')[arguments[0]].click()", row)
            self.assertEqual(browser.run("return typeof window.hacked"), "undefined")
            self.assertEqual(browser.run("return document.querySelectorAll('img').length"), 0)
            self.assertEqual(browser.run("return document.querySelectorAll('script').length"), 2)
            self.assertIn(HOSTILE, browser.run("return document.getElementById('problem').textContent"))
            self.assertIn(HOSTILE, browser.run("return document.getElementById('overview').textContent"))
            self.assert_quiet()  # nor did the policy have to stop anything

    def test_hostile_counters_stay_text(self):
        self.visit(pages["hostile counters"])
        browser.run("[...document.querySelectorAll('#problems tbody button')].find((b) => b.textContent.includes('512x512x512')).click()")
        self.assertIn(HOSTILE, browser.run("return document.getElementById('problem').textContent"))
        self.assertEqual(browser.run("return [typeof window.hacked, document.querySelectorAll('img').length, document.querySelectorAll('script').length]"), ["undefined", 0, 2])
        self.assert_quiet()

    def test_the_policy_would_stop_a_script(self):
        self.visit(pages["suite"])
        browser.run("const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)")
        self.assertEqual(browser.run("return typeof window.hacked"), "undefined")
        self.assertIn("Content Security Policy", " ".join(browser.messages()))


def make_pages():
    recording = lambda name: os.path.join(options.recordings, name)
    made = {"suite": page_of("suite", recording("h200-f32.db.zst")), "settled": page_of("settled", recording("h200-tf32-settled.db.zst")),
            "hostile": page_of("hostile", hostile_copy(recording("h200-special.db.zst")))}
    # Energy, counters, an operation, the same searched twice, and a second board, from a worker and a profiler that make it up.
    home = os.path.join(folder, "home")
    os.makedirs(home)
    made_up = {"PGTUNE_WORKER": options.fake_worker, "PGTUNE_NCU": options.fake_ncu, "PGTUNE_LOCK_DIR": folder, "HOME": home}
    for database, seed in (("old.db", "1"), ("new.db", "2")):
        for problem in (("--shape", "1024x1024x1024"), ("--shape", "512x512x512"), ("--operation", "softmax", "--size", "M=1024,N=1024")):
            pgtune("search", *problem, "--strategy", "guided", "--variants", "8", "--power", "--counters", "-q", "--seed", seed, "--db", os.path.join(folder, database), **made_up)
    for shape in ("1024x1024x1024", "512x512x512"):  # the winners again, on a board that takes longer
        pgtune("bench", "--shape", shape, "--rounds", "8", "-q", "--db", os.path.join(folder, "new.db"), **made_up,
               PGTUNE_FAKE_UUID="GPU-bbbbbbbb-0000-0000-0000-000000000000", PGTUNE_FAKE_SLOWDOWN="1.04")
    pgtune("search", "--shape", "1..128x512x512", "--strategy", "guided", "--probes", "3", "--variants", "8", "-q", "--db", os.path.join(folder, "families.db"), **made_up)
    made["families"] = page_of("families", os.path.join(folder, "families.db"))
    for room in rooms:
        made.update(room.make_pages(pgtune, page_of, folder, made_up))
    made["one"] = page_of("one", os.path.join(folder, "old.db"), "--shape", "512x512x512")
    made["energy"] = page_of("energy", os.path.join(folder, "new.db"), "--against", os.path.join(folder, "old.db"))
    made["hostile counters"] = page_of("hostile-counters", hostile_counters(os.path.join(folder, "new.db")))
    return made


def find_axe():
    """The source of axe-core, as a package of PyPI bundles it; None where that is not installed."""
    package = importlib.util.find_spec("axe_playwright_python")
    return pathlib.Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8") if package else None


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--pgtune", required=True)
parser.add_argument("--fake-worker", required=True)
parser.add_argument("--fake-ncu", required=True)
parser.add_argument("--recordings", required=True)
parser.add_argument("--out", required=True, help="folder for the screenshots")
options = parser.parse_args()
programs = find_browser()
if not programs:
    print("page_test: skipped: no Chromium with its driver here (Debian: apt-get install chromium chromium-driver)")
    sys.exit(3)
axe = find_axe()
print("page_test: " + ("with axe-core" if axe else "without axe-core (pip install --no-deps axe-playwright-python)"))
os.makedirs(options.out, exist_ok=True)
folder = tempfile.mkdtemp(prefix="pgtune-page-")
try:
    pages = make_pages()
    with Browser(programs) as browser:
        begin = time.monotonic()
        browser.view(1280, 900)
        browser.open(pages["suite"])
        browser.wait("return performance.getEntriesByName('first-contentful-paint').length > 0")
        paint = browser.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"page_test: opened in {time.monotonic() - begin:.2f} s, first contentful paint after {paint / 1000:.2f} s; screenshots in {options.out}")
        outcome = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.loadTestsFromTestCase(Page))
    sys.exit(0 if outcome.wasSuccessful() else 1)
finally:
    shutil.rmtree(folder, ignore_errors=True)
