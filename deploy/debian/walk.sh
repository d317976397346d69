#!/bin/bash
# Walks docs/install-on-debian.md from its first block to its last in a Debian 12 made for it, in namespaces of its own: nothing of this machine is
# touched but a temporary folder. Usage, as root: deploy/debian/walk.sh [folder that keeps downloads]. Exit code 77: cannot run here; the last line says why.
#
# What is not as on an operator's machine: systemctl is deploy/debian/systemctl, the chain is a local one, the agent has a private address. Packages come
# through the network of this machine (apt-get, npm and downloads from the npm registry only); everything that is installed sees no network but its own loopback.
set -euo pipefail
REPOSITORY=$(cd "$(dirname "$0")/../.." && pwd)
GUIDE=$REPOSITORY/docs/install-on-debian.md

skip() { echo "skipped: $1"; exit 77; }

# The walk itself, in the new root: the blocks of the guide as they stand, and what stands around them.
walk_script() {
  cat <<'SCRIPT'
set -euo pipefail
NAME=node.example SOURCE=/root/agent-network CHAIN_RPC_URL=http://127.0.0.1:8545 ALERT_URL=http://127.0.0.1:9999/alerts
WALLET_KEY=0x1111111111111111111111111111111111111111111111111111111111111111 AGENT_ENDPOINT=http://127.0.0.1:8801/
# What fetches packages does so through the network of this machine.
outside() { nsenter --net=/proc/self/fd/9 "$@"; }
apt-get() { outside /usr/bin/apt-get "$@"; }
npm() { outside "$(type -P npm)" "$@"; }
curl() { case "$*" in *//registry.npmjs.org/*) outside /usr/bin/curl "$@" ;; *) /usr/bin/curl "$@" ;; esac; }
fund() {
  echo ALLOW_PRIVATE_ENDPOINTS=true >> /etc/agent-network/node.env
  node packages/service/test/process/support/walk-chain-child.ts 8545 "$WALLET_KEY" > /var/log/chain.log 2>&1 &
  local chain=$! end=$((SECONDS + 120))
  until grep -q 'chain is ready' /var/log/chain.log; do
    kill -0 "$chain" 2> /dev/null && [ "$SECONDS" -lt "$end" ] || { echo 'the local chain is not ready within two minutes' >&2; return 1; }
    sleep 0.2
  done
  local address
  for address in $(node --env-file=/etc/agent-network/node.env packages/service/scripts/node-addresses.ts | cut -d' ' -f1); do
    curl -fsS "$CHAIN_RPC_URL" -H 'content-type: application/json' \
      --data "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"anvil_setBalance\",\"params\":[\"$address\",\"0xde0b6b3a7640000\"]}" > /dev/null
  done
}
step() { echo "== $1"; }
SCRIPT
  awk '/^## /{ gsub(/[^A-Za-z0-9. ]/, ""); print "step \"" $0 "\"" } /^<!-- walk: fund -->$/{ print "fund" } /^```/{ inside = ($0 == "```bash"); next } inside' "$GUIDE"
  cat <<'SCRIPT'
step "afterwards"
node -e 'const call = JSON.parse(require("node:fs").readFileSync("/tmp/first-call.json", "utf8"));
  require("node:assert").deepEqual({ status: call.status, cost: call.cost, paymentMethod: call.paymentMethod }, { status: "completed", cost: "0.01", paymentMethod: "x402" })'
[ "$(curl -s -o /dev/null -w '%{http_version} %{http_code}' "https://$NAME/agents")" = "2 200" ]
[ "$(curl -s -o /dev/null -w '%{http_code}' "https://$NAME/metrics")" = 404 ]
[ "$(curl -s -o /dev/null -w '%{http_code} %{redirect_url}' "http://$NAME/agents")" = "308 https://$NAME/agents" ]
[ "$(curl -s -o /dev/null -w '%{http_code}' "https://$NAME/dashboard/")" = 200 ]
[ "$(curl -s -o /dev/null -w '%{http_code}' "https://$NAME/sdk.tgz")" = 200 ]
[ "$(pgrep -c -u agent-network -f service/src/main.ts)" = 2 ]
[ "$(stat -c '%U %a' /etc/agent-network/node.env)" = "root 600" ]
[ "$(stat -c '%U %a' /etc/prometheus/agent-network.key)" = "prometheus 600" ]
# Every rule is evaluated, and alerts would reach Alertmanager.
rules_healthy() { curl -sS -m 5 http://127.0.0.1:9090/api/v1/rules | grep -q '"health":"ok"' && ! curl -sS -m 5 http://127.0.0.1:9090/api/v1/rules | grep -Eq '"health":"(unknown|err)"'; }
wait_for 'every rule of Prometheus is evaluated' rules_healthy
curl -sS -m 5 http://127.0.0.1:9090/api/v1/alertmanagers | grep -q '"activeAlertmanagers":\[{"url":"http://127.0.0.1:9093'
echo "walked to the end"
SCRIPT
}

# In the namespaces: $1 is the new root. Descriptor 9 is the network of the machine.
if [ "${1:-}" = --inside ]; then
  root=$2
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount -t proc proc "$root/proc"
  ip link set lo up
  exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    NPM_CONFIG_CAFILE=/etc/ssl/certs/ca-certificates.crt bash /root/walk
fi

[ "$(id -u)" = 0 ] || skip 'it needs root'
[ "$(. /etc/os-release && echo "$ID")" = debian ] || skip 'it needs a Debian machine'
for tool in debootstrap unshare nsenter ip git; do command -v "$tool" > /dev/null || skip "it needs $tool (apt-get install debootstrap util-linux iproute2 git)"; done
unshare --mount --net --pid --fork mount -t tmpfs tmpfs /mnt 2> /dev/null || skip 'it needs the right to make namespaces'

# It takes some 3 GB: not in a temporary folder in memory. A TMPDIR of this machine does not exist in the new root.
root=$(mktemp -d /var/tmp/agent-network-walk.XXXXXX)
trap 'rm -rf --one-file-system "$root" "$root.log"' EXIT
unset TMPDIR
chmod 755 "$root"
if [ -n "${1:-}" ]; then mkdir -p "$1/archives" "$1/npm"; fi
debootstrap --variant=minbase --include=ca-certificates,iproute2,procps ${1:+--cache-dir="$(realpath "$1")/archives"} bookworm "$root" http://deb.debian.org/debian > "$root.log" 2>&1 ||
  { tail -n 5 "$root.log"; skip 'Debian could not be fetched'; }
echo 'deb http://deb.debian.org/debian-security bookworm-security main' >> "$root/etc/apt/sources.list"
cp /etc/resolv.conf "$root/etc/resolv.conf"
printf '127.0.0.1 localhost node.example\n' > "$root/etc/hosts"
# Authorities that this machine trusts beside those of Debian, for its way to the package registries.
for authority in /usr/local/share/ca-certificates/*.crt; do [ ! -e "$authority" ] || cp "$authority" "$root/usr/local/share/ca-certificates/"; done
chroot "$root" update-ca-certificates > "$root.log" 2>&1 || { cat "$root.log"; echo 'failed: update-ca-certificates'; exit 1; }
cp "$REPOSITORY/deploy/debian/systemctl" "$root/usr/local/bin/systemctl"
chmod 755 "$root/usr/local/bin/systemctl"
mkdir "$root/root/agent-network"
(cd "$REPOSITORY" && git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ -e "$f" ] && printf "%s\0" "$f"; done' sh | tar -c --null -T - | tar -x -C "$root/root/agent-network")
walk_script > "$root/root/walk"

exec 9< /proc/self/ns/net
# Nothing that hangs may hold this machine: the walk takes three minutes where nothing else runs.
timeout --foreground --kill-after 10 "${WALK_SECONDS:-1500}" unshare --mount --net --pid --fork --kill-child --propagation private "$0" --inside "$root" || {
  code=$?
  if [ "$code" = 124 ] || [ "$code" = 137 ]; then echo "not at the end after ${WALK_SECONDS:-1500} seconds; the last step stands above"; fi
  echo "failed with $code"
  tail -n 20 "$root"/var/log/agent-network@*.log "$root"/var/log/chain.log "$root"/var/log/nginx/error.log "$root"/tmp/echo-agent.log 2> /dev/null
  exit 1
}
