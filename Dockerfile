# docker build -t legato .    docker run --network host -e LEGATO_TOKEN=… legato      (README, "In a container", says why)
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 LEGATO_CACHE_DIR=/var/cache/legato
WORKDIR /opt/legato

# Where the default torch is a CUDA build of several gigabytes, add an index that has CPU builds: --build-arg PIP_ARGS="--extra-index-url …"
ARG PIP_ARGS=""
COPY pyproject.toml requirements.lock README.md LICENSE ./
COPY adaptive adaptive
COPY transport_webrtc transport_webrtc
COPY quality quality
RUN pip install ${PIP_ARGS} -c requirements.lock . \
 && useradd --system --create-home legato \
 && install -d -o legato /var/cache/legato

USER legato
# The voices' int8 files are built here, so that the first start is as quick as every other.
RUN legato voices --build

EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD python -c "import os, ssl, urllib.request as r; \
    r.urlopen(('https' if os.environ.get('LEGATO_TLS') else 'http') + '://127.0.0.1:%s/healthz' % os.environ.get('LEGATO_PORT', 8080), timeout=2, context=ssl._create_unverified_context())"
ENTRYPOINT ["legato"]
CMD ["serve"]
