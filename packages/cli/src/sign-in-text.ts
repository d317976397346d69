import { CommandError, EXIT } from './exit-codes.ts';

const LOOPBACK = /^(127(\.\d+){3}|localhost|\[::1\])$/;
const FIRST_LINE = /^(\S+) wants you to sign in with your Ethereum account:$/;

/** True if both are the same site. A node on this machine has several names. */
const isSameSite = (a: URL, b: URL): boolean =>
  a.host === b.host || (a.port === b.port && LOOPBACK.test(a.hostname) && LOOPBACK.test(b.hostname));

/**
 * Throws unless the text (EIP-4361) signs this wallet in to the node at this address. A node could pass on the text of another one, and use
 * the signature there.
 */
export function requireTextOf(url: string, address: string, text: string): void {
  const [first = '', signer = '', ...rest] = text.split('\n');
  const node = new URL(url);
  const domain = URL.parse(`${node.protocol}//${FIRST_LINE.exec(first)?.[1] ?? ''}`);
  const uris = rest.filter((line) => line.startsWith('URI: ')).map((line) => URL.parse(line.slice('URI: '.length)));
  const isOfNode = [domain, ...uris].every((each) => each !== null && isSameSite(each, node));
  const isPlain = !/(?!\n)\p{Control}/u.test(text);
  if (isOfNode && isPlain && uris.length === 1 && signer.toLowerCase() === address.toLowerCase()) return;
  throw new CommandError(
    `${url} asks for a signature that is not for it${domain ? `, but for ${domain.host}` : ''}. Nothing was signed. If you trust the node, sign in at its own address.`,
    { code: 'WRONG_SIGN_IN_TEXT', exitCode: EXIT.failed },
  );
}
