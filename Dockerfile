# The processor: a virtual environment made in one stage, and nothing but that and the interpreter in the other.
# No shell is needed to run it, nothing is written outside of /tmp, and it is nobody in particular.
FROM python:3.11.14-slim-bookworm AS build

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
RUN python -m venv /opt/spanfuse
COPY constraints.txt .
COPY pyproject.toml README.md ./
COPY instrumentation instrumentation
COPY processor processor
# What is installed is what was tested: constraints.txt has every version. `extras` is all that differs between
# the processor and the agents of the demo.
ARG extras=processor,redis,postgres,zstd,top
RUN /opt/spanfuse/bin/pip install -c constraints.txt ".[${extras}]" && \
    /opt/spanfuse/bin/python -m compileall -q /opt/spanfuse/lib && \
    /opt/spanfuse/bin/pip uninstall --yes pip setuptools

FROM python:3.11.14-slim-bookworm

RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin spanfuse
COPY --from=build /opt/spanfuse /opt/spanfuse
ENV PATH=/opt/spanfuse/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME=/tmp
USER 10001:10001
EXPOSE 4317 4318 9464
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:4318/readyz', timeout=2)"]
ENTRYPOINT ["spanfuse"]
CMD ["processor"]
