import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** Keyed operations with the node's one secret; each purpose has its own derived key. */
export interface Secrets {
  /** Encrypts text for storage (AES-256-GCM). */
  seal(text: string): Buffer;
  /** Opens the output of `seal`; throws when it was altered or sealed with another secret. */
  open(sealed: Buffer): string;
  /** Opens the output of `seal`; null when it was sealed with another secret: the operator has changed SECRET_KEY, and the text is lost. */
  openOrNull(sealed: Buffer): string | null;
  /** Message authentication code over purpose and parts, each delimited by its length; base64url. */
  authenticate(purpose: string, parts: readonly string[]): string;
  isAuthentic(purpose: string, parts: readonly string[], code: string): boolean;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** `secretKey` is any text of at least 32 characters; it never leaves this closure. */
export function createSecrets(secretKey: string): Secrets {
  // Prepared keys: raw bytes would make every code five times as slow.
  const derive = (purpose: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, 'agent-network', purpose, 32)));
  const sealKey = derive('seal');
  const macKey = derive('authenticate');
  const authenticate = (purpose: string, parts: readonly string[]) => {
    let text = `${purpose.length}:${purpose}`;
    for (const part of parts) text += `\n${part.length}:${part}`;
    return createHmac('sha256', macKey).update(text).digest('base64url');
  };
  const open = (sealed: Buffer) => {
    const decipher = createDecipheriv('aes-256-gcm', sealKey, sealed.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  };
  return {
    seal(text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]);
    },
    open,
    openOrNull(sealed) {
      try {
        return open(sealed);
      } catch {
        return null;
      }
    },
    authenticate,
    isAuthentic(purpose, parts, code) {
      const expected = Buffer.from(authenticate(purpose, parts));
      const shown = Buffer.from(code);
      return expected.length === shown.length && timingSafeEqual(expected, shown);
    },
  };
}
