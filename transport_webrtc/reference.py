"""The HTTP interface as a page to read: made of the routes themselves, loading nothing from elsewhere. Pure."""

from html import escape
from typing import Any

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Legato: HTTP</title>
<style>
  :root {{ color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }}
  body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
  td {{ padding: .3rem 1rem .3rem 0; vertical-align: top; }}
  code {{ font-family: ui-monospace, monospace; white-space: nowrap; }}
</style>
<h1>HTTP</h1>
<p>Errors are <code>{{"error": "a sentence."}}</code>. Where the server has a token, all below <code>/v1</code> needs
<code>Authorization: Bearer</code>.</p>
<table>{rows}</table>
"""


def reference(openapi: dict[str, Any]) -> str:
    """A page of HTML for a description by OpenAPI: one row for each path and method."""
    rows = [
        f"<tr><td><code>{method.upper()}</code><td><code>{escape(path)}</code><td>{escape(row.get('description', ''))}"
        for path, methods in openapi["paths"].items()
        for method, row in methods.items()
        if method != "options"
    ]
    return _PAGE.format(rows="\n".join(rows))
