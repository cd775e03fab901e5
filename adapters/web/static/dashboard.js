// What makes the pages quicker where scripts run: keys, and what changed while a page is open. Without it all works, too.
(() => {
  "use strict";
  const main = document.getElementById("main");

  // Live. The stream says which cases changed; the page itself is asked for again, so that it shows the truth.
  const quiet = "quiet" in document.body.dataset; // the person loads pages themselves
  const live = () => (quiet ? null : main.querySelector("[data-live]"));
  let stream = null;
  let asking = false;
  let again = false;

  async function refresh() {
    const part = live();
    if (!part) return;
    if (part.dataset.live === "edit" || part.dataset.live === "confirm") { document.getElementById("news").hidden = false; return; }
    if (asking) { again = true; return; }
    asking = true;
    try {
      const address = new URL(location.href);
      if (main.querySelector("#words .turn")) address.searchParams.set("reveal", "1");
      const answer = await fetch(address, { headers: { "HX-Request": "true", "X-Antiphon-Background": "1" }, cache: "no-store" });
      if (answer.status === 401) { location.assign("/login"); return; }
      if (!answer.ok) return;
      replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch { /* the network is away; the stream tells when it is back */ } finally {
      asking = false;
      if (again) { again = false; refresh(); }
    }
  }

  function busy() {
    const at = document.activeElement;
    return Boolean(at && at.closest("[data-live] form") && at.matches("input, select, textarea"));
  }

  function replace(page) {
    const old = live(), fresh = page.querySelector("[data-live]");
    if (!old || !fresh || old.isEqualNode(fresh)) return;
    if (old.querySelector("#words .turn") && !fresh.querySelector("#words .turn")) { again = true; return; }
    if (busy()) { document.getElementById("news").hidden = false; return; }
    const at = document.activeElement;
    const focused = at && at.dataset ? at.dataset.case || "" : "";
    const key = at && at.dataset ? at.dataset.key || "" : "";
    const open = [...old.querySelectorAll("details")].map((one, place) => one.open ? place : -1);
    old.replaceWith(document.adoptNode(fresh));
    [...fresh.querySelectorAll("details")].forEach((one, place) => { if (open.includes(place)) one.open = true; });
    if (focused) fresh.querySelector(`[data-case="${focused}"]`)?.focus();
    else if (key) fresh.querySelector(`[data-key="${key}"]`)?.focus();
    if (window.htmx) window.htmx.process(fresh);
  }

  function listen() {
    const waiting = document.getElementById("waiting");
    if (quiet || !waiting || !window.EventSource) return;
    stream?.close();
    stream = new EventSource(`/events?since=${encodeURIComponent(live()?.dataset.number || "")}`);
    stream.addEventListener("waiting", (event) => { waiting.textContent = JSON.parse(event.data); });
    stream.addEventListener("change", (event) => {
      const part = live(), cases = JSON.parse(event.data).cases;
      if (part && (part.dataset.live === "list" || cases.includes(part.dataset.caseId))) refresh();
    });
    stream.addEventListener("over", () => { stream.close(); location.assign("/login"); });
  }
  listen();
  document.addEventListener("visibilitychange", () => { if (!document.hidden && live()?.dataset.number) refresh(); });
  window.addEventListener("pageshow", (event) => { if (event.persisted) { listen(); refresh(); } });
  window.addEventListener("pagehide", () => stream?.close());
  setInterval(() => { if (!document.hidden && live()?.dataset.number) refresh(); }, 30000);

  // How long a reply can still be taken back, as the server says it, second by second.
  const seconds = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "always" });
  if (!quiet) setInterval(() => {
    for (const one of document.querySelectorAll("[data-left]")) {
      const left = Number(one.dataset.left);
      if (left < 1) continue;
      one.textContent = one.textContent.replace(seconds.format(left, "second"), seconds.format(left - 1, "second"));
      one.dataset.left = String(left - 1);
      if (left === 1) setTimeout(refresh, 1000); // the server rounds seconds down
    }
  }, 1000);

  // Keys.
  const help = document.getElementById("help");
  function step(by) {
    const all = [...document.querySelectorAll("[data-case]")];
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)].focus();
  }
  document.addEventListener("keydown", (event) => {
    if (!("keys" in document.body.dataset) || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
    const key = event.key;
    if (key === "?") { event.preventDefault(); help?.showModal(); return; }
    if (key === "j" || key === "k") { event.preventDefault(); step(key === "j" ? 1 : -1); return; }
    if (key === "o") { document.activeElement?.closest("[data-case]")?.click(); return; }
    const wanted = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (wanted) {
      event.preventDefault();
      wanted.click();
      if (key === "c") wanted.closest("details")?.querySelector("input[type=radio]")?.focus();
    }
  });
})();
