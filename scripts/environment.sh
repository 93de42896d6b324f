# Sourced by demo and test: finds uv or brings it into .tools, and a Python 3.13 if one is here; then `$UV run …`.
# NEEDS: groups of dependencies to install beside the usual ones; none unless set.
cd "$(dirname "$0")/.." || exit 1
UV=$(command -v uv) && "$UV" --version >/dev/null 2>&1 || UV=.tools/bin/uv
if [ ! -x "$UV" ]; then
  echo "Bringing uv into .tools …" >&2
  python3 -m venv .tools && .tools/bin/python -m pip install --quiet --disable-pip-version-check "uv>=0.9" || exit 1
fi
# What was brought is found by what is started here too: audits install their targets with it.
if [ "$UV" = .tools/bin/uv ]; then
  mkdir -p .tools/path && ln -sf ../bin/uv .tools/path/uv && PATH="$PWD/.tools/path:$PATH" && export PATH
fi
# pyenv's shims hide its Pythons from uv; a Python that is not there at all is downloaded by uv.
for python in "$UV_PYTHON" python3.13 python3 "$(PYENV_VERSION=$(ls "${PYENV_ROOT:-$HOME/.pyenv}/versions" 2>/dev/null |
  grep '^3\.13\.' | tail -n 1) pyenv which python3.13 2>/dev/null)"; do
  python=$([ -n "$python" ] && "$python" -c 'import sys; print(sys.executable if sys.version_info[:2] == (3, 13) else "")' \
    2>/dev/null) && [ -n "$python" ] && UV_PYTHON=$python && export UV_PYTHON && break
done
groups=
for group in $NEEDS; do groups="$groups --group $group"; done
"$UV" sync --frozen --quiet $groups || exit 1
