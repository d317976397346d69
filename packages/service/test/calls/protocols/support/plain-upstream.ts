import { paymentIn } from './openai-upstream.ts';
import { json, type Speaker, startUpstream, type TestUpstream } from './upstream.ts';

/** A service that knows nothing of agents: text in, text out. */
export const startPlainUpstream = (): Promise<TestUpstream> => startUpstream(speaker);

const speaker = (): Speaker => ({
  protocol: 'http-template',
  path: '/v1',
  upstream: {
    path: '/slugify?tone={{input/tone}}&none={{input/none}}',
    body: '{"text":"{{task}}","lines":"{{input/lines}}","none":"{{input/none}}"}',
    result: '/data/slug',
  },
  isWork: ({ method }) => method === 'POST',
  async answer({ method, path, body, headers }, _request, response, { mode }) {
    if (method === 'HEAD') return json(response, 405, {});
    if (mode.kind === 'fails') return json(response, 400, { error: { message: 'no' } });
    if (mode.kind === 'bills') {
      const shown = paymentIn(headers);
      if (shown === null) {
        const required = Buffer.from(JSON.stringify(mode.terms.required)).toString('base64');
        return json(response, 402, {}, { 'payment-required': required });
      }
      await mode.terms.take(shown);
    }
    const { pathname, searchParams } = new URL(path, 'http://x');
    if (pathname !== '/v1/slugify' || searchParams.has('none') || 'none' in body) return json(response, 404, {});
    json(response, 201, {
      data: { slug: [`${body.text}!`, ...toldOf(searchParams.get('tone'), body.lines)].join(' ') },
    });
  },
});

const toldOf = (tone: string | null, lines: unknown): string[] => (tone === null ? [] : [`(${tone}, ${lines})`]);
