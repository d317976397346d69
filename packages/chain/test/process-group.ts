import { readdirSync, readFileSync } from 'node:fs';

/** True when no process of the group runs. One that ended but was not yet reaped by its parent does not run. */
export function groupIsGone(group: number): boolean {
  if (process.platform === 'linux') return !readdirSync('/proc').some((pid) => runsInGroup(pid, group));
  try {
    process.kill(-group, 0);
    return false;
  } catch {
    return true;
  }
}

function runsInGroup(pid: string, group: number): boolean {
  if (!/^\d+$/.test(pid)) return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(processGroup) === group && state !== 'Z';
  } catch {
    return false;
  }
}
