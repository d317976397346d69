import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { StoredFile } from '@agent-network/contracts/files/files';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { type Client, isApiError } from '@agent-network/sdk';
import type { Command } from 'commander';
import { action, addList } from '../command.ts';
import { CommandError } from '../exit-codes.ts';
import { integer } from '../output/arguments.ts';
import { formatFacts, formatTable, oneLine } from '../output/table.ts';
import type { Session } from '../session.ts';

export function addFiles(program: Command): void {
  const files = program.command('files').description('files of the account, for calls and from results');
  addList(files)
    .option('--limit <n>', 'how many', integer(1, 100))
    .description('newest first')
    .action(action<[{ limit?: number }]>(list));
  files
    .command('put')
    .argument('<path>')
    .option('--type <type>', 'media type; default: by the ending of the name')
    .option('--expires-in <seconds>', 'seconds until it is removed, 3600 to 2592000', integer(3600, 2_592_000))
    .description('upload a file; the answer has the id for {"$file": ...}')
    .action(action<[string, { type?: string; expiresIn?: number }]>(put));
  files
    .command('get')
    .argument('<file>', 'its id')
    .option('-o, --out <path>', 'where to write it; default: its name in this folder')
    .option('--request <id>', 'the call that has it in its result')
    .description('download a file')
    .action(action<[string, { out?: string; request?: string }]>(get));
  files.command('rm').argument('<file>', 'its id').description('delete a file').action(action<[string]>(remove));
}

async function list({ requireClient, terminal }: Session, { limit }: { limit?: number }): Promise<void> {
  const page = await requireClient().listFiles({ query: { limit } });
  terminal.result(page, () =>
    formatTable(
      page.files,
      [
        { title: 'FILE', value: ({ fileId }) => fileId },
        { title: 'SIZE', value: ({ size }) => String(size) },
        { title: 'TYPE', value: ({ mediaType }) => mediaType },
        { title: 'NAME', value: ({ name }) => name ?? '', isFlexible: true },
        { title: 'UNTIL', value: ({ expiresAt }) => expiresAt.slice(0, 16) },
      ],
      terminal.columns,
    ),
  );
}

async function put(session: Session, path: string, options: { type?: string; expiresIn?: number }): Promise<void> {
  const stored = await upload(session.requireClient(), path, options);
  session.terminal.result(stored, () => factsOf(stored));
}

const factsOf = ({ fileId, size, mediaType, name, expiresAt }: StoredFile): string =>
  formatFacts([
    ['file', fileId],
    ['size', `${size} bytes`],
    ['type', oneLine(mediaType)],
    ['name', name === null ? null : oneLine(name)],
    ['until', expiresAt],
  ]);

async function get(session: Session, id: string, { out, request }: { out?: string; request?: string }): Promise<void> {
  const client = session.requireClient();
  const fileId = id.replace('sha256:', '');
  const name = out ?? safeName((await client.getFile({ params: { fileId } })).name) ?? fileId.slice(0, 16);
  await writeFile(name, await download(client, fileId, request), { flag: out === undefined ? 'wx' : 'w' });
  session.terminal.result({ fileId: `sha256:${fileId}`, path: name }, () => name);
}

async function remove(session: Session, id: string): Promise<void> {
  const removed = await session.requireClient().deleteFile({ params: { fileId: id.replace('sha256:', '') } });
  session.terminal.result(removed, () => `${removed.fileId} is deleted.`);
}

const download = (client: Client, fileId: string, request?: string): Promise<Uint8Array> =>
  client.getFileContent({ params: { fileId }, ...(request === undefined ? {} : { query: { request } }) });

/** Media types by the ending of a name. Others are bytes. */
const types: Readonly<Record<string, string>> = {
  ...{ '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.webp': 'image/webp', '.gif': 'image/gif' },
  ...{ '.wav': 'audio/wav', '.mp3': 'audio/mpeg', '.mp4': 'video/mp4', '.pdf': 'application/pdf' },
  ...{ '.json': 'application/json', '.txt': 'text/plain', '.md': 'text/markdown', '.csv': 'text/csv' },
};

async function upload(
  client: Client,
  path: string,
  { type, expiresIn }: { readonly type?: string; readonly expiresIn?: number } = {},
): Promise<StoredFile> {
  const body = await readFile(path).catch(() => {
    throw new CommandError(`Cannot read the file ${path}.`);
  });
  const sha256 = createHash('sha256').update(body).digest('hex');
  return client.putFile({
    params: { sha256 },
    query: { expiresIn },
    headers: {
      'content-type': type ?? types[extname(path).toLowerCase()] ?? 'application/octet-stream',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(basename(path)).replace(/['()*]/g, '_')}`,
    },
    body: new Uint8Array(body),
  });
}

/** Uploads files of `name=path` and names them in an input. */
export async function withFiles(
  session: Session,
  input: Record<string, unknown>,
  named: readonly string[] = [],
): Promise<Record<string, unknown>> {
  const all = { ...input };
  for (const each of named) {
    const [, name, path] = /^([^=]+)=(.+)$/s.exec(each) ?? [];
    if (name === undefined || path === undefined) throw new CommandError(`--file ${each}: write name=path.`);
    if (Object.hasOwn(all, name)) throw new CommandError(`--file ${each}: the input has a field "${name}" already.`);
    all[name] = { $file: (await upload(session.requireClient(), path)).fileId };
  }
  return all;
}

/** The last part of a name from elsewhere, as a name in a folder; null: there is none. */
const safeName = (name: unknown): string | null => {
  const last = typeof name === 'string' ? (name.split(/[\\/]/).at(-1) ?? '').replace(/[\p{Cc}\p{Cf}:]/gu, '') : '';
  return /^\.*$/.test(last) ? null : last;
};

/** Writes the files of a result into a folder, under their names; none is written over. */
export async function saveFiles(
  session: Session,
  client: Client,
  record: RequestRecord,
  folder: string,
): Promise<void> {
  const { requestId, status, result } = record;
  if (status !== 'completed') return;
  const files = new Map<string, unknown>();
  JSON.stringify(result, (_key, value) => {
    if (typeof value?.$file === 'string' && /^sha256:[0-9a-f]{64}$/.test(value.$file))
      files.set(value.$file, value.name);
    return value;
  });
  if (files.size > 0) await mkdir(folder, { recursive: true });
  for (const [id, name] of files) {
    const fileId = id.replace('sha256:', '');
    const path = join(folder, `${fileId.slice(0, 8)}-${safeName(name) ?? 'file'}`);
    // A file of the input that the agent only names is none of its result.
    const content = await download(client, fileId, requestId).catch((error: unknown) => {
      if (isApiError(error) && error.code === 'NOT_FOUND') return null;
      throw error;
    });
    if (content === null) continue;
    await writeFile(path, content);
    session.terminal.note(`Saved ${path}`);
  }
}
