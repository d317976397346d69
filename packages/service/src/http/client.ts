import type { Context } from 'hono';
import { isLoopback, isLoopbackHost } from '../lib/guarded-fetch-address.ts';
import { addressOf, type HasTrustedProxies, socketAddressOf } from './remote-address.ts';

/** Who is at the other end, as far as the connection and the request tell. */
export interface Client {
  /** The network address; `unknown` without a socket. */
  readonly address: string;
  /** What the client calls itself: plain text of at most 200 characters. */
  readonly userAgent: string | null;
  /** Whether it is on the machine of the node, and asked for it by a name of loopback. */
  readonly isLocal: boolean;
}

const MOST_CHARS = 200;

/** What a proxy says of whom it heard: with any of these the other end is not the client. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** Worked out when it is asked for: few calls want to know. */
export const clientOf = (ctx: HasTrustedProxies, c: Context): Client => ({
  get address() {
    return addressOf(ctx, c);
  },
  get userAgent() {
    return plain(c.req.header('user-agent'));
  },
  get isLocal() {
    const host = URL.parse(`http://${c.req.header('host') ?? ''}`)?.hostname ?? '';
    const isDirect = forwarding.every((name) => c.req.header(name) === undefined);
    return isDirect && isLoopback(socketAddressOf(c)) && isLoopbackHost(host);
  },
});

const plain = (text: string | undefined): string | null =>
  text
    ?.replace(/[^\x20-\x7e]/g, '')
    .slice(0, MOST_CHARS)
    .trim() || null;
