import { type IncomingHttpHeaders, request } from 'node:http';

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request to a node on loopback with headers as they are given: `fetch` does not send a `Host` of one's own. */
export const rawRequest = (
  baseUrl: string,
  { method = 'GET', path, headers = {} }: { method?: string; path: string; headers?: Record<string, string> },
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: new URL(baseUrl).port, path, method, headers }, async (answer) => {
      let text = '';
      for await (const part of answer) text += part;
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
    });
    sent.on('error', reject).end();
  });
