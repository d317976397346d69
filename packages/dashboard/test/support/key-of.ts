import type { Page } from 'playwright-core';

/** Makes a key of all common scopes for the account that is signed in on this page, as its owner could do elsewhere. */
export const keyOf = (page: Page, name = 'test'): Promise<string> =>
  page.evaluate<string>(`
    fetch('/account/keys', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name: ${JSON.stringify(name)},
        scopes: ['invoke', 'agents:write', 'payments:read', 'payments:write', 'keys:manage'],
      }),
    }).then(async (response) => (await response.json()).data.apiKey)
  `);
