import { expect, it } from 'vitest';
import { answerDetail } from './upstream-client.ts';

const SECRET = 'Bearer s-0123456789';

it('a secret of which a long answer consists is shown nowhere in part, also where the answer is cut off', () => {
  for (const length of [150, 4000]) {
    const secret = SECRET + 'x'.repeat(length);
    const body = Buffer.from(secret.repeat(20));
    const upstream = {
      agentId: 'agt',
      endpoint: 'https://a.example',
      protocol: 'http',
      tool: null,
      model: null,
      template: null,
    } as const;
    const shown = answerDetail({ ...upstream, headers: { authorization: secret } }, { status: 400, body });
    expect(shown.body).toMatch(/^[*]+…?$/);
  }
});
