#!/usr/bin/env bash
# Refuses tracked files that would only work, or only make sense, on one machine: paths of a
# developer's machine anywhere, addresses of download servers in what builds and runs the project.
# Exit: 0 clean, 1 found something, 77 not a git checkout (ctest: skipped).
set -euo pipefail
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "not a git checkout"; exit 77; }
status=0

# refuse WHAT PATTERN [PATHSPEC...]; the patterns are written so that they do not match themselves.
refuse() {
  local what=$1 pattern=$2
  shift 2
  if git grep -nIE -e "$pattern" -- "$@"; then
    echo "hygiene: $what (above)"
    status=1
  fi
}

refuse "a path of one machine" '(^|[^A-Za-z0-9_.])/(wor[k]|hom[e]/[a-z]+|roo[t])/[A-Za-z]' . ':!tests/data' ':!docs'
refuse "a download server's address in what builds the project; use package clients by package name" \
  'http[s]?://' Makefile .ci tools cmake CMakeLists.txt CMakePresets.json 'src/*CMakeLists.txt' tests/CMakeLists.txt bench/CMakeLists.txt
refuse "a download server's address in a lock file; .npmrc: omit-lockfile-registry-resolved=true" \
  '"resolve[d]"|registr[y]\.' '*package-lock.json' '*package.json' '*.npmrc'
refuse "a merge conflict's mark" '^(<<<<<<[<]|>>>>>>[>]) ' .
refuse "a to-do without an issue number" '(TOD[O]|FIXM[E])([^(]|\([^#])' src tests bench tools cmake Makefile CMakeLists.txt

refuse "a source that is not in this repository" '(server[s]|decision[s]|flee[t])\.md' src tests bench tools docs README.md

# Every key that deem.toml takes is in its page.
keys=$(sed -n '/kTop\[\]/,/};/p' src/bench/config.cpp; sed -n '/kMembers = {/,/};/p' src/bench/arm.cpp)
for key in $(grep -o '"[a-z-]*"' <<<"$keys" | tr -d '"'); do
  grep -qE "\`$key\`|\[\[$key\]\]" docs/formats/deem-toml.md || {
    echo "hygiene: deem.toml takes $key, docs/formats/deem-toml.md does not say what it means"
    status=1
  }
done

for package in $(sed -n 's/^[a-z]*: //p' tools/packages.txt); do
  grep -qF "\`$package\`" docs/dependencies.md || {
    echo "hygiene: tools/packages.txt installs $package, docs/dependencies.md does not say why"
    status=1
  }
done

git ls-files -z 'src/*.cpp' 'src/*.h' | xargs -0 -r wc -l |
  awk '$2 != "total" && $1 > 400 {print "note: " $2 " has " $1 " lines; past 400 look for the second idea"}'
exit $status
