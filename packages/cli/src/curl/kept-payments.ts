import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../exit-codes.ts';
import type { Transfer } from '../session.ts';

/** A payment that was signed for a request, and may have been taken. */
export interface KeptPayment extends Transfer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Time after which a payment is deleted; its signature expired long before. */
const KEPT_MS = 24 * 60 * 60_000;
const MAX_KEPT = 100;

/**
 * Keeps payments of unknown outcome in a folder that only the user can read, one file each. A payment is stored before it is sent: the same
 * request, made again, presents the same payment, and the token moves the money of one payment once.
 */
export function createKeptPayments(dir: string) {
  const fileOf = (key: string) => join(dir, `${key}.json`);

  /** Removes payments that are too old. Returns how many are left. */
  async function countKept(): Promise<number> {
    const names = (await readdir(dir)).filter((name) => name.endsWith('.json'));
    const kept = await Promise.all(
      names.map(async (name) => {
        const isOld = Date.now() - (await stat(join(dir, name))).mtimeMs > KEPT_MS;
        if (isOld) await rm(join(dir, name), { force: true });
        return !isOld;
      }),
    );
    return kept.filter(Boolean).length;
  }

  return {
    /** The payment that was signed for this request before; null: none. */
    async find(key: string): Promise<KeptPayment | null> {
      const file = fileOf(key);
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (text === null || Date.now() - (await stat(file)).mtimeMs > KEPT_MS) return null;
      return JSON.parse(text) as KeptPayment;
    },

    /** Stores a payment before it is sent. Throws CommandError when another run of the same command has just signed one. */
    async keep(key: string, payment: KeptPayment): Promise<void> {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      if ((await countKept()) >= MAX_KEPT)
        throw new CommandError(
          `${MAX_KEPT} payments of unknown outcome are kept in ${dir}. Check your wallet, then remove those files.`,
          { code: 'TOO_MANY_UNSETTLED' },
        );
      await writeFile(fileOf(key), `${JSON.stringify(payment)}\n`, { mode: 0o600, flag: 'wx' }).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error;
          throw new CommandError('Another run of this command is paying. Nothing was sent.', {
            code: 'ALREADY_PAYING',
          });
        },
      );
    },

    forget: (key: string): Promise<void> => rm(fileOf(key), { force: true }),
  };
}

export type KeptPayments = ReturnType<typeof createKeptPayments>;
