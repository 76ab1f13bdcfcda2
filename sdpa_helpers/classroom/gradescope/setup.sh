#!/usr/bin/env bash
# Gradescope runs this once, as root, when the autograder is built. It needs an image with Python 3.11 or newer, such as
# Ubuntu 24.04, and the network.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# The last two are the sandbox's; without them the grader takes a weaker level, and says which.
apt-get install -y -qq --no-install-recommends python3 python3-venv bubblewrap libseccomp2

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "This autograder needs Python 3.11 or newer, and this image has $(python3 --version)."
  echo "Choose Ubuntu 24.04 as the base image in the autograder's settings."
  exit 1
}
python3 -m venv "$root/venv"
"$root/venv/bin/pip" install -q --no-cache-dir -c "$root/source/constraints.txt" -r "$root/source/requirements.txt"
