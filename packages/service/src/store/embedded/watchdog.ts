import { type ChildProcess, spawn } from 'node:child_process';
import { type PostgresUser, spawnOptionsFor } from './postgres-user.ts';

/**
 * Shell script of the watchdog, which runs in its own session between the node and PostgreSQL. It holds the read end of a pipe that only
 * the node keeps open: when the node ends in any way, it reads end-of-file and requests a fast shutdown. Ctrl-C in the node's terminal
 * reaches neither of the two.
 */
const START_AND_GUARD = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
( read -r _ <&3; kill -INT "$server" ) >/dev/null 2>&1 &
guard=$!
exec 3<&-
wait "$server"
code=$?
kill "$guard" 2>/dev/null
exit "$code"`;

const GUARD_ONLY = `
read -r _
kill -INT "$1"
while kill -0 "$1" 2>/dev/null; do sleep 0.05; done`;

/** Starts the server under a watchdog. The child's exit is the server's exit; closing its stdin stops the server. */
export function spawnGuarded(command: string, args: readonly string[], user: PostgresUser): ChildProcess {
  const child = spawn('/bin/sh', ['-c', START_AND_GUARD, 'postgres-watchdog', command, ...args], {
    ...spawnOptionsFor(user),
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  return detachFromEventLoop(child);
}

/** Guards a server that already runs: closing stdin stops it, and the child exits once it is gone. */
export function guardRunning(pid: number, user: PostgresUser): ChildProcess {
  const child = spawn('/bin/sh', ['-c', GUARD_ONLY, 'postgres-watchdog', String(pid)], {
    ...spawnOptionsFor(user),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  return detachFromEventLoop(child);
}

/** Unreferences the child, so that a missing stop() does not keep the process alive; the watchdog stops the server. */
function detachFromEventLoop(child: ChildProcess): ChildProcess {
  child.unref();
  for (const stream of [child.stdin, child.stderr]) {
    if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
  child.stdin?.on('error', () => undefined);
  return child;
}
