"""Hostile stories in the report, in a real browser (see browser.mjs)."""

import json
import pathlib
import shutil
import subprocess

from work import REPOSITORY

PIECES = [
    "</script><script>window.pwned = 1</script>",
    '<img src=x onerror="window.pwned = 2">',
    "<svg onload=window.pwned=3>",
    "<!--", "-->", "]]>", "<![CDATA[", "</textarea>", "</style>", "</title>", "<base href=//x>",
    "\u2028", "\u202e", "\u0000", "\u001b[31m", "\ufeff", "\U0001f469\u200d\U0001f467", "&lt;b&gt;",
    "javascript:window.pwned=4", "{{constructor}}", "${window.pwned=5}", "`", "'", '"', "\\u003c",
    "<iframe srcdoc='<script>parent.pwned=6</script>'>", "<a href=javascript:pwned=7>", "a" * 3000,
]


def run(work, stories):
    chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser",
                                                    "google-chrome"])), None)
    tests = REPOSITORY / "tests/browser"
    if not chromium or not shutil.which("node") or not shutil.which("npm"):
        print("browser: skipped: chromium, node or npm is not installed")
        return []
    if not (tests / "node_modules").exists():
        command = ["npm", "ci", "--no-audit", "--no-fund"]
        if subprocess.run(command, cwd=tests, capture_output=True).returncode != 0:
            print("browser: skipped: npm cannot install playwright-core")
            return []
    scores, texts = [], []
    for number in range(stories):
        piece = PIECES[number % len(PIECES)]
        other = PIECES[number // len(PIECES) % len(PIECES)]
        names = {"id": f"{number} {piece}", "system": f"S{number % 4}{other}",
                 "item": f"{number // 4}{piece}"}
        human = {"fun" + PIECES[0]: [1 + number * 7 % 5]}
        values = {"near" + PIECES[1]: number * 7 % 11, "far": number % 5}
        scores.append(json.dumps({**names, "scores": values, "human": human}))
        text = f"{piece} Rain fell. {other}"
        texts.append(json.dumps({**names, "story": text, "prompt": piece}))
    (work.folder / "hostile.jsonl").write_text("\n".join(scores) + "\n")
    (work.folder / "texts.jsonl").write_text("\n".join(texts) + "\n")
    work.check("meta table hostile.jsonl --draws 20 -o hostile-study")
    work.check("report hostile-study hostile.jsonl --stories texts.jsonl -o hostile.html")
    script = pathlib.Path(__file__).resolve().parent / "browser.mjs"
    done = subprocess.run(
        ["node", str(script), chromium, str(work.folder / "hostile.html"), str(stories)],
        capture_output=True, text=True, timeout=600,
    )
    print(f"browser: {done.stdout.strip()}", flush=True)
    return [] if done.returncode == 0 else [f"browser: {done.stderr.strip()[-500:]}"]
