# SPDX-License-Identifier: MIT
"""What tests/browser/page_test.py checks of host pipelines."""
import os

PAGES = ("pipelines",)
STAIRCASE = "Staircase: 8192x2048x2048 bf16 nn, streaming A,D"


def make_pages(pgtune, page_of, folder, made_up):
    kernels, alone, both = (os.path.join(folder, name) for name in ("new.db", "pipelines.db", "both.db"))
    pgtune("pipeline", "--shape", "8192x2048x2048", "--dtype", "bf16", "--pipelines", "8", "-q", "--db", alone, **made_up)
    pgtune("db", "merge", kernels, alone, "-o", both)
    os.replace(both, kernels)
    return {"pipelines": page_of("pipelines", alone)}


class Checks:
    def test_pipelines_beside_kernels(self):
        self.look("energy", {STAIRCASE})

    def test_pipelines_alone(self):
        self.look("pipelines", {STAIRCASE})
        self.assertEqual(self.run_script("return [...document.querySelectorAll('h2')].map((h) => h.textContent)"), ["Host pipelines"])
        self.assertIn("pipelines.db, 1 pipeline; made", self.run_script("return document.getElementById('made').textContent"))
        self.assertEqual(self.run_script("return document.querySelector('.skip').getAttribute('href')"), "#pipelines")
