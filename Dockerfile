# docker build --target lab -t sdpa-lab .       then  docker run --rm -it -p 8888:8888 -v sdpa-work:/course/work sdpa-lab
# docker build --target grade -t sdpa-grade .   then  as docs/ways-in.md says. Podman takes the same file and flags.
# Any image with Python 3.11 or newer and apt-get will do: --build-arg BASE=…
ARG BASE=python:3.11-slim-bookworm
FROM $BASE AS base
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --create-home --uid 1000 learner && mkdir /course && chown learner /course
WORKDIR /course
# An index with PyTorch for the CPU may be named, e.g. --build-arg PIP_FLAGS="--extra-index-url …": else several GB come.
ARG PIP_FLAGS=""

FROM base AS lab
COPY --chown=learner . .
RUN python -m pip install $PIP_FLAGS -c constraints.txt -e ".[lab]" && mkdir -p work && chown learner work
USER learner
EXPOSE 8888
CMD ["python", "-m", "sdpa_helpers", "lab", "--no-browser", "--ip=0.0.0.0", "--port=8888"]

FROM base AS grade
# The sandbox's programs; which of its levels holds depends on what the container may do: `sdpa doctor` tells.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends bubblewrap libseccomp2 && rm -rf /var/lib/apt/lists/*
COPY --chown=learner . .
# Readable for whoever runs it: `make exam` does so under your own number.
RUN python -m pip install $PIP_FLAGS -c constraints.txt -e ".[grade]" && chmod -R a+rX /course
USER learner
WORKDIR /marks
ENTRYPOINT ["python", "-m", "sdpa_helpers"]
CMD ["doctor"]
