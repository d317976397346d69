import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agentSlug } from '../../service/src/agents/agent-slug.ts';
import type { Harness } from '../../service/test/support/harness.ts';
import { isLong } from '../../service/test/support/long.ts';
import { findBrowser, missingBrowser } from './support/find-browser.ts';
import { startNodeWithDashboard } from './support/shared-world.ts';

const MIN_SCORE = 95;
const AGENTS = 40;
const categories = ['performance', 'accessibility', 'best-practices', 'seo'] as const;

/** A browser that Lighthouse connects to; the port is in what it says first. */
async function startBrowser(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const { executablePath, env } = await findBrowser();
  const profile = await mkdtemp(join(tmpdir(), 'agent-network-lighthouse-'));
  const args = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
  ];
  const child = spawn(executablePath, [...args, 'about:blank'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let said = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the browser ended: ${said.slice(-2000)}`)));
    child.stderr.on('data', (part: Buffer) => {
      said = (said + part.toString()).slice(-10_000);
      const found = /DevTools listening on ws:\/\/[^:]+:(\d+)\//.exec(said)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
  });
  return {
    port,
    async stop() {
      child.kill();
      await ended;
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** Agents as a node in use has them: two pages of a list, with descriptions of a few sentences. The path of one's page. */
async function fill(h: Harness): Promise<string> {
  const owner = await h.newAccount();
  const description = 'Reads a text in any language and answers with a summary of it. Keeps names and figures. '.repeat(
    4,
  );
  let id = '';
  for (let i = 0; i < AGENTS; i++) {
    const { body } = await h.request('POST', '/agents', {
      key: owner.key,
      body: {
        ...{ name: `Summarizer ${i}`, description, endpoint: 'http://127.0.0.1:9/' },
        capabilities: ['text.summarize', `language.${i % 7}`],
        rates: { perRequest: '0.05' },
      },
    });
    id = body.data.id;
  }
  await h.ctx.db.query('online', `update agent set status = 'online', endpoint_proven_at = now()`);
  return `/agents/${agentSlug({ id, name: `Summarizer ${AGENTS - 1}` })}`;
}

it.runIf(isLong && missingBrowser === null)(
  `Lighthouse gives each public page ${MIN_SCORE} or more in every category`,
  async () => {
    const { default: lighthouse } = await import('lighthouse');
    const h = await startNodeWithDashboard();
    const { port, stop } = await startBrowser();
    try {
      for (const path of ['/', '/explore', await fill(h), '/docs', '/docs/calling']) {
        const result = await lighthouse(h.baseUrl + path, {
          port,
          logLevel: 'silent',
          onlyCategories: [...categories],
        });
        const fault = result?.lhr.runtimeError;
        if (fault) throw new Error(`${path}: ${fault.code} ${fault.message}`);
        const scores = Object.fromEntries(
          categories.map((name) => [name, Math.round((result?.lhr.categories[name]?.score ?? 0) * 100)]),
        );
        const failed = Object.values(result?.lhr.audits ?? {})
          .filter(({ score, scoreDisplayMode }) => score !== null && score < 1 && scoreDisplayMode !== 'informative')
          .map(({ id, displayValue }) => `${id} ${displayValue ?? ''}`);
        process.stdout.write(`${path} ${JSON.stringify(scores)} ${failed.join(', ')}\n`);
        for (const name of categories) expect(scores[name], `${path}: ${name}`).toBeGreaterThanOrEqual(MIN_SCORE);
      }
    } finally {
      await stop();
      await h.stop();
    }
  },
  480_000,
);
