import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { isLong } from '../../../support/long.ts';

/** The conformance kit of the Model Context Protocol, as published. */
const kit = fileURLToPath(
  new URL('dist/index.js', import.meta.resolve('@modelcontextprotocol/conformance/package.json')),
);

/** The scenarios that ask for what this server offers, with the versions of the protocol that they are run in. */
const applying: Readonly<Record<string, readonly string[]>> = {
  'server-initialize': ['2025-06-18', '2025-11-25'],
  'server-session-lifecycle': ['2025-06-18', '2025-11-25'],
  ping: ['2025-06-18', '2025-11-25'],
  'tools-list': ['2025-06-18', '2025-11-25', '2026-07-28'],
  'server-stateless': ['2026-07-28'],
  'server-sse-multiple-streams': ['2025-11-25', '2026-07-28'],
  'server-sse-polling': ['2025-11-25'],
  'dns-rebinding-protection': ['2025-11-25', '2026-07-28'],
  'http-header-validation': ['2026-07-28'],
  'input-required-result-unsupported-methods': ['2026-07-28'],
  caching: ['2026-07-28'],
};

const fixture = 'it calls a tool of the kit’s own server, made for this check';
const noLists = 'there are no prompts and resources, and the capabilities say so';

/** Checks of these scenarios that fail, and why that is right. */
const expectedFailures: Readonly<Record<string, string>> = {
  'sep-2575-server-rejects-undeclared-capability': fixture,
  'sep-2575-missing-capability-http-400': fixture,
  'sep-2575-http-server-no-independent-requests-on-stream': fixture,
  'sep-2575-server-no-log-without-loglevel': fixture,
  'sep-2549-prompts-list-caching-hints': noLists,
  'sep-2549-resources-list-caching-hints': noLists,
  'sep-2549-resources-templates-list-caching-hints': noLists,
};

/** The others, and why they do not apply. */
const notApplying: readonly [scenario: RegExp, why: string][] = [
  [/^tools-call-|^json-schema-2020-12$|^http-custom-header-/, fixture],
  [/^input-required-result-/, 'no tool of this server asks for input'],
  [/^elicitation-/, 'no tool of this server asks for input'],
  [/^(resources-|prompts-|completion-|logging-|sep-2164-)/, 'capabilities that this server does not declare'],
  [/^tasks-/, 'they create tasks by tools of the kit’s own server; bad-input.test.ts has the extension'],
  [/^sep-2640-/, 'an extension that this server does not declare'],
];

let h: Harness;
beforeAll(async () => {
  if (isLong) h = await startHarness();
});
afterAll(() => h?.stop());

const runKit = (args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, [kit, ...args], { timeout: 150_000, cwd: h.dataDir }, (_error, stdout) =>
      resolve(stripVTControlCharacters(stdout)),
    );
  });

describe.skipIf(!isLong)('the conformance kit', () => {
  it.each(
    Object.entries(applying).flatMap(([scenario, versions]) => versions.map((version) => [scenario, version] as const)),
  )('%s of %s passes', async (scenario, version) => {
    const said = await runKit([
      'server',
      '--url',
      `${h.baseUrl}/mcp`,
      '--scenario',
      scenario,
      '--spec-version',
      version,
    ]);
    const [, count] = /^Passed: \d+\/\d+, (\d+) failed/m.exec(said) ?? [];
    const failed = [...said.matchAll(/\[([\w-]+) *\] FAILURE/g)].map(([, check = '']) => check);
    expect(failed.length).toBe(Number(count));
    expect(failed.filter((check) => !(check in expectedFailures))).toEqual([]);
  });

  it('has only scenarios that are run here or known not to apply', async () => {
    const listed = [...(await runKit(['list', '--server'])).matchAll(/^ {2}- (\S+) \[/gm)].map(([, name = '']) => name);
    expect(listed.length).toBeGreaterThan(Object.keys(applying).length);
    const unknown = listed.filter(
      (name) => !(name in applying) && !notApplying.some(([scenario]) => scenario.test(name)),
    );
    expect(unknown).toEqual([]);
  });
});
