import type { Page } from 'playwright-core';

/** Asks the node as the page itself would, with the session of its browser, and answers the data. Throws for anything but 200. */
export async function askNode<T>(page: Page, method: string, path: string, body?: unknown): Promise<T> {
  const init = {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  };
  const { status, text } = await page.evaluate<{ status: number; text: string }>(
    `fetch(${JSON.stringify(path)}, ${JSON.stringify(init)}).then(async (answer) => ({ status: answer.status, text: await answer.text() }))`,
  );
  if (status !== 200) throw new Error(`${method} ${path} was answered with ${status}: ${text}`);
  return JSON.parse(text).data as T;
}
