import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../../src/lib/concurrency/until.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { binaries } from './debian.ts';

const CONF = join(import.meta.dirname, '../../../../../deploy/nginx.conf');

export interface NginxOptions {
  readonly folder: string;
  readonly port: number;
  /** Ports of the two processes of the node. */
  readonly nodes: readonly [number, number];
}

/** nginx with `deploy/nginx.conf`, but for its addresses and TLS. */
export async function startNginx({ folder, port, nodes }: NginxOptions): Promise<Daemon> {
  const replaced: readonly (readonly [RegExp, string])[] = [
    [/server node-1:4020/, `server 127.0.0.1:${nodes[0]}`],
    [/server node-2:4020/, `server 127.0.0.1:${nodes[1]}`],
    [/ {2}server \{\n\s+listen 80;[\s\S]*?\n {2}\}\n/, ''],
    [/listen 443 ssl[^;]*;/, `listen 127.0.0.1:${port};`],
    [/\n\s+ssl_\w+ [^;]+;/g, ''],
    [/worker_processes auto;/, `worker_processes 1;\npid ${join(folder, 'nginx.pid')};\nerror_log stderr warn;`],
  ];
  let conf = await readFile(CONF, 'utf8');
  for (const [pattern, text] of replaced) {
    if (!conf.match(pattern)) throw new Error(`deploy/nginx.conf has no ${pattern}`);
    conf = conf.replace(pattern, text);
  }
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `  ${name}_temp_path ${join(folder, `nginx-${name}`)};`)
    .join('\n');
  const file = join(folder, 'nginx.conf');
  await writeFile(file, conf.replace('http {', `http {\n${paths}`));
  const daemon = startDaemon({
    command: binaries.nginx,
    args: ['-p', folder, '-c', file, '-g', 'daemon off;'],
    cwd: folder,
    logFile: join(folder, 'nginx.log'),
  });
  // Answered by nginx itself: the node is not up yet, and must not count as down.
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/metrics`)
      .then(() => true as const)
      .catch(() => null);
  if (!(await until(answers, { timeoutMs: 10_000, firstMs: 20, maxMs: 200 })))
    throw new Error(`nginx does not answer: ${await readFile(join(folder, 'nginx.log'), 'utf8')}`);
  return daemon;
}
