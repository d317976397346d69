import { ConfigError } from '../read-env.ts';

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*,[^/?]*)([^?]*)(?:\?(.*))?$/;
const SESSION = 'target_session_attrs';

/**
 * One URL for each host of `postgresql://user@a:5432,b:5432/name?target_session_attrs=read-write`, as libpq reads it. The driver supports
 * neither several hosts nor `target_session_attrs`: the gate asks each server whether it accepts writes.
 */
export function hostUrls(url: string): readonly string[] {
  const match = PARTS.exec(url);
  if (!match) return [url];
  const [, front = '', hosts = '', path = '', query = ''] = match;
  const settings = new URLSearchParams(query);
  const session = settings.get(SESSION) ?? 'read-write';
  if (session !== 'read-write' && session !== 'primary')
    throw new ConfigError(`${SESSION} of DATABASE_URL must be read-write: the node writes.`);
  settings.delete(SESSION);
  const rest = settings.size === 0 ? path : `${path}?${settings}`;
  return hosts.split(',').map((host) => front + host + rest);
}
