const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

interface Offers {
  readonly accepts?: readonly { readonly scheme?: unknown }[];
}

/**
 * The terms of a 402 without its offers of a transfer: who chose a channel signs no other payment. Throws when nothing is left. Terms that
 * cannot be read are left to the payer, which refuses them.
 */
export function onlyChannels(header: string): string {
  let terms: Offers;
  try {
    terms = JSON.parse(new TextDecoder().decode(bytesOf(header))) as Offers;
  } catch {
    return header;
  }
  const accepts = terms.accepts?.filter(({ scheme }) => scheme === 'batch-settlement') ?? [];
  if (accepts.length === 0)
    throw new Error("The node doesn't accept a channel for this call. Choose another way to pay. Nothing was signed.");
  const text = new TextEncoder().encode(JSON.stringify({ ...terms, accepts }));
  return btoa(Array.from(text, (byte) => String.fromCharCode(byte)).join(''));
}
