import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { MAX_WAIT_MS } from '../../src/http/gateways/common/follow.ts';

const root = join(import.meta.dirname, '../../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const allOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] as string);

/** Every variable that the configuration reads. */
const known = new Set<string>();
readConfig(new Proxy({} as Record<string, string | undefined>, { get: (_env, name) => void known.add(String(name)) }));
/** For the database of Compose. */
const ofDatabase = ['POSTGRES_PASSWORD'];
const example = Object.fromEntries(
  read('deploy/.env.example')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
);
const filledIn = {
  ...example,
  SECRET_KEY: 'f'.repeat(64),
  SETTLEMENT_PRIVATE_KEY: `0x${'1'.repeat(64)}`,
};
const compose = read('deploy/docker-compose.yml');
const unit = read('deploy/agent-network@.service');
const nginx = read('deploy/nginx.conf');
const dockerfile = read('deploy/Dockerfile');

describe('the deployment', () => {
  it('sets every variable that production needs, by names that the service reads', () => {
    expect(known.size).toBeGreaterThan(20);
    for (const name of Object.keys(example)) expect([...known, ...ofDatabase]).toContain(name);
    const { config } = readConfig(filledIn);
    expect(config).toMatchObject({ mode: 'production', allowPrivateEndpoints: false, logLevel: 'info' });
    expect(() => readConfig(example)).toThrow(/SETTLEMENT_PRIVATE_KEY|SECRET_KEY/);
    for (const text of [unit, dockerfile])
      for (const [line = ''] of text.matchAll(/^(?:ENV|Environment=).*$/gm))
        for (const name of allOf(line, /\b([A-Z_]{4,})=/g)) expect(known).toContain(name);
  });

  it('names the key of the registrar, which agents of this node need before they register', () => {
    for (const path of ['deploy/.env.example', 'docs/install-on-debian.md'])
      expect(read(path), path).toMatch(/^REGISTRAR_PRIVATE_KEY=/m);
  });

  it('gives both processes of Compose the same variables, and each process of systemd a port of its own', () => {
    expect(compose).toMatch(/x-node: &node[\s\S]*env_file: \.env\n/);
    expect(allOf(compose, /^ {2}(node-\d):\n {4}<<: \*node$/gm)).toEqual(['node-1', 'node-2']);
    expect(new URL(example.DATABASE_URL ?? '').password).toBe(example.POSTGRES_PASSWORD);
    for (const name of allOf(compose, /\$\{([A-Z_]+)/g)) expect(Object.keys(example)).toContain(name);
    const [port = ''] = allOf(unit, /PORT=(\S+)/g);
    expect(readConfig({ ...filledIn, PORT: port.replace('%i', '2') }).config.port).toBe(4022);
  });

  it('builds the image of Compose once, and has it fetched from nowhere', () => {
    expect(allOf(compose, /^ *(image: agent-network)$/gm)).toHaveLength(1);
    expect(allOf(compose, /^ *(dockerfile: deploy\/Dockerfile)$/gm)).toHaveLength(1);
    expect(compose).toMatch(/^ {2}node-1:\n {4}<<: \*node\n {4}build:\n/m);
    expect(compose).toMatch(/^ {2}node-2:\n {4}<<: \*node\n(?: {4}#.*\n)* {4}pull_policy: never\n/m);
  });

  it('lets a process drain as long as it may, and stop, before it is killed', () => {
    const withDrain = (seconds: number) => readConfig({ ...filledIn, DRAIN_SECONDS: String(seconds) });
    const maxS = 60;
    expect(withDrain(maxS).config.drainMs).toBe(1000 * maxS);
    expect(() => withDrain(maxS + 1)).toThrow('DRAIN_SECONDS');
    for (const text of [/^x-node:[\s\S]*?\nservices:/m.exec(compose)?.[0] ?? '', unit]) {
      const [graceS] = allOf(text, /^(?: *stop_grace_period: |TimeoutStopSec=)(\d+)s?$/gm).map(Number);
      expect(graceS).toBeGreaterThanOrEqual(maxS + 10);
    }
  });

  it('has a persistent folder for the promise file, writable by both processes only', () => {
    const place = '/var/lib/agent-network';
    expect(read('deploy/.env.example')).toContain(`\n# DATABASE_PROMISE_FILE=${place}/`);
    expect(unit).toMatch(/^ProtectSystem=strict$/m);
    expect(unit).toMatch(/^StateDirectory=agent-network\nStateDirectoryMode=0700$/m);
    expect(compose).toMatch(
      new RegExp(`^x-node: &node[\\s\\S]*?\\n  volumes: \\["state:${place}"\\]\\n[\\s\\S]*?\\nservices:`, 'm'),
    );
    expect(compose).toMatch(/^volumes:\n(?: {2}\w+:\n)* {2}state:\n/m);
    expect(dockerfile).toMatch(new RegExp(`mkdir ${place} && chown node:node ${place}\\n(?:.*\\n)*USER node\\n`));
  });

  it('has the proxy in front of both, believed by both, and let streams through', () => {
    expect(allOf(nginx, /server (node-\d):4020/g)).toEqual(['node-1', 'node-2']);
    expect(compose).toContain(`subnet: ${example.TRUSTED_PROXIES}`);
    expect(nginx).toMatch(/proxy_buffering off;/);
    expect(nginx).toMatch(/X-Forwarded-For \$remote_addr;/);
    expect(nginx).not.toContain('non_idempotent');
    // A process that came back must not be skipped while one slow request tries it: the other may die meanwhile.
    expect(allOf(nginx, /server node-\d:4020 (.*);/g)).toEqual(['max_fails=0', 'max_fails=0']);
  });

  it('refuses connections without TLS, and passes on requests of every size that the service answers itself', () => {
    const [plain = '', secure = '', ...more] = nginx.split(/^ {2}server \{$/m).slice(1);
    expect(more).toEqual([]);
    expect(plain).toMatch(/listen 80;/);
    expect(allOf(plain, /location \/ \{ (.*); \}/g)).toEqual(['return 308 https://$host$request_uri']);
    expect(plain).not.toContain('proxy_pass');
    expect(secure).toMatch(/listen 443 ssl.*;\n\s+ssl_certificate .*;\n\s+ssl_certificate_key .*;/);
    expect(secure).toMatch(/^ {4}add_header Strict-Transport-Security "max-age=\d+" always;/m);
    expect(allOf(secure, /add_header (\S+)/g)).toHaveLength(1);
    expect(secure).toMatch(/client_max_body_size 2m;/);
    expect(secure).toMatch(/large_client_header_buffers 4 32k;/);
    expect(secure).toContain('location = /metrics { return 404; }');
  });

  it('has the proxy wait for as long as any answer does, and elsewhere not much longer than a stream is silent', () => {
    const [, common = '', long = ''] = /([\s\S]*)location ~ \^\/\(v1\|a2a\)\(\/\|\$\) \{([^}]*)\}/.exec(nginx) ?? [];
    const timeoutsOf = (part: string) =>
      allOf(part, /proxy_read_timeout (\d+)s/g).map((seconds) => Number(seconds) * 1000);
    expect(timeoutsOf(common)).toEqual([expect.toSatisfy((ms: number) => ms > 30_000 && ms <= 120_000)]);
    // The payment is awaited before the end of the call.
    expect(timeoutsOf(long)).toEqual([expect.toSatisfy((ms: number) => ms > MAX_WAIT_MS + 30_000)]);
  });

  it('brings the manifest of every workspace into the image, so that the lockfile fits', () => {
    const lock = JSON.parse(read('package-lock.json'));
    const workspaces = Object.keys(lock.packages).filter((path) => path !== '' && !path.includes('node_modules/'));
    for (const path of workspaces) {
      if (existsSync(join(root, path))) expect(dockerfile).toContain(`COPY ${path}/package.json ${path}/`);
    }
    expect(workspaces.length).toBeGreaterThan(4);
  });

  it('brings the npm packages that a node serves, built in a stage that has what their build reads', () => {
    const [, stage = '', image = ''] = /AS packages\n([\s\S]*?)\nFROM ([\s\S]*)$/.exec(dockerfile) ?? [];
    const copied = allOf(stage, /^COPY (?!--from)(.+) \S+$/gm).flatMap((paths) => paths.split(' '));
    const script = read('scripts/build-packages.ts');
    const needed = allOf(script, /join\(root, '([\w./-]+)'/g).filter((path) => !/^(build|node_modules)/.test(path));
    expect(needed.length).toBeGreaterThan(1);
    for (const path of [...needed, 'package-lock.json', 'scripts/build-packages.ts'])
      expect(
        copied.some((each) => path === each || path.startsWith(`${each}/`)),
        path,
      ).toBe(true);
    expect(image).toContain('COPY --from=packages /app/build/served build/served');
    // With the script the node would try to build, without a compiler.
    expect(image).not.toContain('build-packages.ts');
  });

  it('is described: every variable stands in the reference of settings', () => {
    const reference = read('docs/settings.md');
    // Production refuses FAILPOINT.
    expect([...known].filter((name) => name !== 'FAILPOINT' && !reference.includes(`\`${name}\``))).toEqual([]);
  });

  it('leaves the shell of an operator open, who has not set what the paid call of the guide to Debian needs', async () => {
    const [call = ''] = allOf(read('docs/install-on-debian.md'), /```bash\n([^`]*?)```/g).slice(-1);
    expect(call).toContain('agentnet --json call');
    const env = { PATH: process.env.PATH };
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', `${call}\necho "still open"`], {
      env,
    });
    expect(stdout).toBe('still open\n');
    expect(stderr).toContain('AGENT_ENDPOINT');
  });

  it.skipIf(!existsSync('/usr/bin/systemd-analyze'))('is a unit that systemd understands', async () => {
    // systemd looks for the program; on this machine it stands elsewhere.
    const folder = await mkdtemp(join(tmpdir(), 'unit-'));
    const path = join(folder, 'agent-network@.service');
    await writeFile(path, unit.replace('/opt/node/bin/node', process.execPath));
    const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', path]).catch((error) => error);
    await rm(folder, { recursive: true });
    expect(unit).toContain('ExecStart=/opt/node/bin/node ');
    expect(stderr.split('\n').filter((line: string) => line.includes('agent-network@'))).toEqual([]);
  });
});
