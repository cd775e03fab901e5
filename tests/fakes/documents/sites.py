"""Web sites on this machine that answer like those that documents come from, with paging and with mishaps."""

import asyncio
import json
import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

PDF = b"%PDF-1.4 a neutral file"

Mishap = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Site:
    """Answers like a site, but first with the ``mishaps``, one for each request beside those for robots.txt.

    ``asked`` holds the paths with their queries, ``headers`` those of each request, ``most_at_once`` how many requests
    were ever open together.
    """

    def __init__(self, robots: str | None = None) -> None:
        self.robots = robots
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.mishaps: deque[Mishap] = deque()
        self.most_at_once = 0
        self.released = asyncio.Event()
        self._open = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        self.headers.append(dict(request.headers))
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        try:
            await asyncio.sleep(0)
            if request.path == "/robots.txt":
                return web.Response(text=self.robots) if self.robots is not None else web.Response(status=404)
            if self.mishaps:
                return await self.mishaps.popleft()(request)
            return self.answer(request)
        finally:
            self._open -= 1

    def answer(self, request: web.Request) -> web.Response:
        return web.Response(body=PDF, content_type="application/pdf")

    def count(self, path: str) -> int:
        return Counter(asked.partition("?")[0] for asked in self.asked)[path]


@asynccontextmanager
async def serving(site: Site) -> AsyncIterator[str]:
    """A site on a free port for as long as the block runs; its address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.handle)
    async with TestServer(app) as server:
        try:
            yield str(server.make_url("/")).rstrip("/")
        finally:
            site.released.set()


def fails(status: int, **headers: str) -> Mishap:
    """An answer with a status and nothing to read."""

    async def mishap(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={name.replace("_", "-"): text for name, text in headers.items()})

    return mishap


def says(body: str, content_type: str) -> Mishap:
    """An answer that is something else."""

    async def mishap(request: web.Request) -> web.StreamResponse:
        return web.Response(text=body, content_type=content_type)

    return mishap


def redirects(location: str, status: int = 302) -> Mishap:
    """An answer that leads elsewhere."""
    return fails(status, Location=location)


async def breaks_off(request: web.Request) -> web.StreamResponse:
    """Promise more than comes."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b"only this")
    assert request.transport is not None
    request.transport.close()
    return response


async def never_ends(request: web.Request) -> web.StreamResponse:
    """Send for as long as anybody listens."""
    response = web.StreamResponse(headers={"Content-Type": "application/pdf"})
    await response.prepare(request)
    while request.transport is not None and not request.transport.is_closing():
        await response.write(b"x" * 4096)
    return response


def hangs(site: Site) -> Mishap:
    async def mishap(request: web.Request) -> web.StreamResponse:
        await site.released.wait()
        return web.Response()

    return mishap


@dataclass(frozen=True)
class UnRecord:
    """A record of the UN Digital Library. ``found_by`` holds the phrases that find it."""

    number: int
    title: str
    found_by: Sequence[str]
    collection: str = "Reports"
    date: str = "2015-06-30"
    symbol: str | None = None
    files: Sequence[tuple[str, str]] = (("{number}-EN.pdf", "English"),)
    more: str = ""

    def xml(self, base: str) -> str:
        fields = [_field("191", a=self.symbol)] if self.symbol else []
        fields += [_field("245", a=f"{self.title} :", b="a neutral text /", c="by nobody"), _field("269", a=self.date)]
        for name, label in self.files:
            url = f"{base}/record/{self.number}/files/{name.format(number=self.number)}"
            fields.append(_field("856", s="1024", u=url, y=label))
        fields.append(_field("989", a="Documents and Publications", b=self.collection))
        number = f'<controlfield tag="001">{self.number}</controlfield>'
        return f"<record>{number}{''.join(fields)}{self.more}</record>"


def _field(tag: str, **subfields: str | None) -> str:
    inner = "".join(f'<subfield code="{code}">{escape(text or "")}</subfield>' for code, text in subfields.items())
    return f'<datafield tag="{tag}" ind1=" " ind2=" ">{inner}</datafield>'


class UnLibrary(Site):
    """The UN Digital Library: a search that answers in MARCXML, never more than ``limit`` records at once."""

    def __init__(self, records: Sequence[UnRecord], limit: int = 200, robots: str | None = None) -> None:
        super().__init__(robots)
        self.records, self.limit = records, limit

    def answer(self, request: web.Request) -> web.Response:
        if request.path != "/search":
            return super().answer(request)
        query = request.query
        assert query["of"] == "xm"
        *phrases, year = query["p"].split(" AND ")
        found = [
            record
            for record in sorted(self.records, key=lambda each: -each.number)
            if all(phrase.strip('"') in record.found_by for phrase in phrases)
            and record.collection == query["c"] == query["cc"]
            and year == f"year:{record.date[:4]}"
        ]
        start, size = int(query["jrec"]), min(int(query["rg"]), self.limit)
        base = f"{request.scheme}://{request.host}"
        return web.Response(
            text='<?xml version="1.0" encoding="UTF-8"?>\n<collection xmlns="http://www.loc.gov/MARC21/slim">\n'
            f"<!-- Search-Engine-Total-Number-Of-Results: {len(found)} -->\n"
            + "".join(record.xml(base) for record in found[start - 1 : start - 1 + size])
            + "</collection>",
            content_type="text/xml",
        )


@dataclass(frozen=True)
class Work:
    """A work of CELLAR. ``form`` is what its English text can be had as, ``None`` where there is none."""

    celex: str
    title: str
    type: str = "DIR"
    date: str = "2008-11-28"
    subjects: Sequence[str] = ()
    form: str | None = "application/xhtml+xml"


class Cellar(Site):
    """CELLAR: a SPARQL endpoint that answers in JSON, and documents behind a redirect, by content negotiation."""

    def __init__(self, works: Sequence[Work]) -> None:
        super().__init__()
        self.works = works

    def answer(self, request: web.Request) -> web.Response:
        if request.path == "/webapi/rdf/sparql":
            rows = self._rows(request.query["query"])
            assert request.headers["Accept"] == request.query["format"] == "application/sparql-results+json"
            return web.Response(text=json.dumps(rows), content_type="application/sparql-results+json")
        work = next((each for each in self.works if request.path.endswith(f"/{each.celex}")), None)
        if work is None or request.headers["Accept-Language"] != "eng" or request.headers["Accept"] != work.form:
            return web.Response(status=404)
        if request.path.startswith("/resource/celex/"):
            return web.Response(status=303, headers={"Location": f"/resource/cellar/{work.celex}"})
        return web.Response(
            body=f"<p>{work.title}</p>".encode(), content_type=work.form.partition(";")[0], charset="utf-8"
        )

    def _rows(self, query: str) -> dict[str, Any]:
        """What the endpoint finds: whole words in titles or subjects, by type and date, in the order of the numbers."""
        words = re.findall(r"'([^']+)'", _value(r'\?title bif:contains "([^"]+)"', query))
        types = set(re.findall(r"resource-type/(\w+)>", _value(r"\?type IN \(([^)]+)\)", query)))
        since, after = _value(r'\?date >= "([^"]+)"', query), _value(r'STR\(\?celex\) > "([^"]*)"', query)
        found = [
            work
            for work in sorted(self.works, key=lambda each: each.celex)
            if any(all(_has(text, each) for each in words) for text in (work.title, *work.subjects))
            and work.type in types
            and work.date >= since
            and work.celex > after
        ]
        bindings = [
            {"celex": _literal(work.celex), "date": _literal(work.date), "title": _literal(work.title)}
            for work in found
        ]
        limit = int(_value(r"LIMIT (\d+)", query))
        return {"head": {"link": [], "vars": ["celex", "date", "title"]}, "results": {"bindings": bindings[:limit]}}


def _value(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match is not None, pattern
    return match[1]


def _has(text: str, phrase: str) -> bool:
    return re.search(rf"\b{re.escape(phrase)}\b", text, re.IGNORECASE) is not None


def _literal(text: str) -> dict[str, str]:
    return {"type": "typed-literal", "datatype": "http://www.w3.org/2001/XMLSchema#string", "value": text}


@dataclass(frozen=True)
class Publication:
    """A publication of FRA, with the names of the PDFs that its page links to."""

    year: int
    slug: str
    title: str
    teaser: str = ""
    pdfs: Sequence[str] = field(default=("fra-report_en.pdf",))


class FraSite(Site):
    """FRA's site: a listing in pages, a page for each publication, and PDFs; ``counts`` is whether it counts them."""

    def __init__(self, publications: Sequence[Publication], page_size: int = 20, *, counts: bool = True) -> None:
        super().__init__()
        self.publications, self.page_size, self.counts = publications, page_size, counts

    def answer(self, request: web.Request) -> web.Response:
        if request.path == "/en/products/search":
            return _page(self._listing(int(request.query.get("page", "0"))))
        for each in self.publications:
            if request.path == f"/en/publication/{each.year}/{each.slug}":
                links = (f'<li><a href="/sites/default/files/fra_uploads/{name}">{name}</a></li>' for name in each.pdfs)
                return _page(f"<h1>{escape(each.title)}</h1><ul>{''.join(links)}</ul>")
        return super().answer(request)

    def _listing(self, number: int) -> str:
        start = number * self.page_size
        shown = self.publications[start : start + self.page_size]
        total = len(self.publications)
        count = f"<header>Displaying {start + 1} - {start + len(shown)} of {total}</header>" if self.counts else ""
        entries = "".join(
            f'<li><a href="/en/publication/{each.year}/{each.slug}"><img alt=""></a><h2>'
            f'<a href="/en/publication/{each.year}/{each.slug}#TabPubOverview">{escape(each.title)}</a></h2>'
            f"<p>{escape(each.teaser)}</p></li>"
            for each in shown
        )
        pages = range(-(-total // self.page_size))
        pager = "".join(f'<li><a href="?page={page}">{page + 1}</a></li>' for page in pages)
        menu = '<nav><a href="/en/themes">Themes</a><a href="mailto:nobody@example.org">Write</a><a href="http://[">?</a></nav>'
        return f"{menu}{count}<ul>{entries}</ul><ul>{pager}</ul>"


def _page(body: str) -> web.Response:
    return web.Response(text=f"<!DOCTYPE html><html lang=en><body>{body}</body></html>", content_type="text/html")
