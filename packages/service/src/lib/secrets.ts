import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/**
 * Keyed operations with the node's secrets, of which the newest makes and all of them read; each purpose has its own derived key. There are
 * several while the operator changes SECRET_KEY.
 */
export interface Secrets {
  /** Encrypts text for storage (AES-256-GCM). */
  seal(text: string): Buffer;
  /** Opens the output of `seal`; throws when it was altered or sealed with another secret. */
  open(sealed: Buffer): string;
  /** Opens the output of `seal`; null when it was sealed with another secret: the operator has removed that SECRET_KEY, and the text is lost. */
  openOrNull(sealed: Buffer): string | null;
  /** Seals with the newest secret what an older one sealed. Null: the newest sealed it, or none of these did. */
  sealAnew(sealed: Buffer): Buffer | null;
  /** Message authentication code over purpose and parts, each delimited by its length; base64url. */
  authenticate(purpose: string, parts: readonly string[]): string;
  /** The codes of these parts under each secret, that of the newest first. */
  codesOf(purpose: string, parts: readonly string[]): string[];
  /** True while codes of an older secret count as well. */
  readonly isRotating: boolean;
  isAuthentic(purpose: string, parts: readonly string[], code: string): boolean;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Each secret is any text of at least 32 characters; it never leaves this closure. */
export function createSecrets(newest: string, ...older: readonly string[]): Secrets {
  const first = createSecret(newest);
  const all = [first, ...older.map(createSecret)];
  const openOrNull = (sealed: Buffer): string | null => {
    for (const { opened } of all) {
      const text = opened(sealed);
      if (text !== null) return text;
    }
    return null;
  };
  return {
    seal: first.seal,
    open(sealed) {
      const text = openOrNull(sealed);
      if (text === null) throw new Error('it was altered, or sealed with another SECRET_KEY');
      return text;
    },
    openOrNull,
    sealAnew(sealed) {
      const text = first.opened(sealed) === null ? openOrNull(sealed) : null;
      return text === null ? null : first.seal(text);
    },
    authenticate: first.authenticate,
    codesOf: (purpose, parts) => all.map(({ authenticate }) => authenticate(purpose, parts)),
    isRotating: older.length > 0,
    isAuthentic: (purpose, parts, code) => all.some(({ isAuthentic }) => isAuthentic(purpose, parts, code)),
  };
}

function createSecret(secretKey: string) {
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
  return {
    seal(text: string): Buffer {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]);
    },
    /** Null: it was altered, or sealed with another secret. */
    opened(sealed: Buffer): string | null {
      try {
        const decipher = createDecipheriv('aes-256-gcm', sealKey, sealed.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
        return decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        return null;
      }
    },
    authenticate,
    isAuthentic(purpose: string, parts: readonly string[], code: string): boolean {
      const expected = Buffer.from(authenticate(purpose, parts));
      const shown = Buffer.from(code);
      return expected.length === shown.length && timingSafeEqual(expected, shown);
    },
  };
}
