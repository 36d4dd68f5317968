# docker build -t tagwarden . && docker run -p 8787:8787 -v tagwarden:/data tagwarden
# With Chromium, for flow tests and audits: docker build --target with-chromium -t tagwarden . and run it with
# --shm-size=256m and a seccomp profile that allows user namespaces, which Chromium's sandbox needs.
# To create the first owner: docker run --rm -v tagwarden:/data tagwarden init --org NAME --email ADDRESS
# The server writes only to /data, so it also runs with --read-only. Chromium needs --tmpfs /tmp as well.
# For `tagwarden --version`: --build-arg BUILD_COMMIT=$(git rev-parse --short=12 HEAD) --build-arg BUILD_DATE=YYYY-MM-DD

FROM node:20-bookworm-slim AS build
WORKDIR /src
COPY . .
ARG BUILD_COMMIT
ARG BUILD_DATE
RUN ./run build.ts

FROM debian:bookworm-slim AS server
RUN useradd --system --uid 10001 --no-create-home --home-dir /nonexistent tagwarden \
  && install --directory --owner tagwarden --mode 700 /data /var/cache/tagwarden
COPY --from=build /src/dist/tagwarden /usr/local/bin/tagwarden
ENV TAGWARDEN_DATA=/data TAGWARDEN_LISTEN=0.0.0.0:8787 XDG_CACHE_HOME=/var/cache
USER tagwarden
# Unpacks the libraries of the executable into the image, so that the root file system can be read-only.
RUN tagwarden unpack
VOLUME /data
EXPOSE 8787
HEALTHCHECK --start-period=10s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8787 && printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["tagwarden"]
CMD ["serve"]

FROM server AS with-chromium
USER root
# tini reaps the processes of a killed browser, which would otherwise remain as zombies.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends chromium chromium-sandbox fonts-liberation fonts-noto-core tini \
  && rm -rf /var/lib/apt/lists/*
USER tagwarden
ENV TAGWARDEN_CHROMIUM=/usr/bin/chromium
ENTRYPOINT ["tini", "--", "tagwarden"]
CMD ["serve"]

# The default target, without Chromium.
FROM server
