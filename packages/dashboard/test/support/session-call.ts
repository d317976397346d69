import type { Page } from 'playwright-core';

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly data: any;
}

/** A call as the page itself makes it. */
export const sessionCall = (page: Page, method: string, path: string, body?: unknown): Promise<Answered> =>
  page.evaluate<Answered>(`
    fetch(${JSON.stringify(path)}, {
      method: ${JSON.stringify(method)},
      headers: { 'content-type': 'application/json' },
      ${body === undefined ? '' : `body: ${JSON.stringify(JSON.stringify(body))},`}
    }).then(async (response) => ({ status: response.status, data: (await response.json()).data }))
  `);

export const accountIdOf = async (page: Page): Promise<string> =>
  (await sessionCall(page, 'GET', '/account')).data.accountId;
