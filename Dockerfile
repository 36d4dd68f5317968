# docker build -t tagwarden . && docker run -p 8787:8787 -v tagwarden:/data tagwarden
# The first owner: docker run --rm -v tagwarden:/data tagwarden init --org NAME --email ADDRESS

FROM node:20-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN ./run build.ts

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --no-create-home --home-dir /nonexistent tagwarden \
  && install --directory --owner tagwarden --mode 700 /data /var/cache/tagwarden
COPY --from=build /src/dist/tagwarden /usr/local/bin/tagwarden
ENV TAGWARDEN_DATA=/data TAGWARDEN_LISTEN=0.0.0.0:8787 XDG_CACHE_HOME=/var/cache
USER tagwarden
# Unpacks its libraries into the image, so that no start has to.
RUN tagwarden --version
VOLUME /data
EXPOSE 8787
HEALTHCHECK --start-period=10s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8787 && printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["tagwarden"]
CMD ["serve"]
