import { type FileHandle, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncFolder } from './sync-folder.ts';

/** A call that changes the chain, and the time of the block it is meant for, in Unix seconds. */
export type JournalRecord = { method: string; params: readonly unknown[]; atS: number };

/** The calls since a saved state, with the problems found in the files. */
export type JournalContents = { records: JournalRecord[]; segments: number; problems: string[] };

/**
 * Write-ahead journal of the calls that changed the chain, in segments. A segment continues the state with the newest block that it names.
 * A record is on disk before anvil gets its call; after a crash a segment may end in half a record, and that call was not made.
 */
export type ChainJournal = {
  /** Appends records. With `sync` they survive a power cut once this resolves; without it, only the end of this process. */
  append(records: readonly JournalRecord[], options: { sync: boolean }): Promise<void>;
  /** Begins the next segment, which continues the state with this newest block. Returns its number. */
  goOnFrom(blockHash: string): Promise<number>;
  /** Calls since the state with this newest block. Segments that continue no such state are renamed and set aside. */
  since(blockHash: string): Promise<JournalContents>;
  /**
   * Deletes segments once the state that a segment continues is durable: those that only states before the previous one need, or all
   * earlier ones.
   */
  forgetBefore(segment: number, options: { all: boolean }): Promise<void>;
  close(): Promise<void>;
};

const NAME = /^journal\.(\d{10})\.log$/;
const nameOf = (segment: number) => `journal.${String(segment).padStart(10, '0')}.log`;

export async function openChainJournal(folder: string): Promise<ChainJournal> {
  const path = (segment: number) => join(folder, nameOf(segment));
  const list = async () =>
    (await readdir(folder))
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  let next = ((await list()).at(-1) ?? 0) + 1;
  let previousSaved: number | undefined;
  let current: Segment | undefined;

  return {
    append: async (records, options) => current?.append(records.map(toLine).join(''), options),
    async goOnFrom(blockHash) {
      const segment = next++;
      const opened = await openSegment(path(segment));
      await opened.append(toLine({ goesOnFrom: blockHash }), { sync: true });
      await syncFolder(folder);
      await current?.close();
      current = opened;
      return segment;
    },
    async since(blockHash) {
      const contents: JournalContents = { records: [], segments: 0, problems: [] };
      for (const segment of await list()) {
        const { header, records, problem } = readSegment(await readFile(path(segment)));
        const isFirst = contents.segments === 0;
        if (isFirst && header !== blockHash) continue;
        if (isFirst) previousSaved = segment;
        contents.segments += 1;
        contents.records.push(...records);
        if (problem) contents.problems.push(`${nameOf(segment)}: ${problem}`);
      }
      if (contents.segments === 0) contents.problems.push(...(await putAside(folder, await list())));
      return contents;
    },
    async forgetBefore(segment, { all }) {
      const keptFrom = all ? segment : (previousSaved ?? segment);
      previousSaved = segment;
      for (const each of await list()) if (each < keptFrom) await rm(path(each), { force: true });
    },
    close: async () => {
      await current?.close();
      current = undefined;
    },
  };
}

type Segment = { append(text: string, options: { sync: boolean }): Promise<void>; close(): Promise<void> };

/** Opens a segment. After a failed write it accepts no more writes, as records after half a record could not be read. */
async function openSegment(file: string): Promise<Segment> {
  const handle: FileHandle = await open(file, 'w', 0o600);
  let failed = false;
  return {
    async append(text, { sync }) {
      if (failed) throw new Error('an earlier write to the journal failed');
      try {
        await handle.appendFile(text);
        if (sync) await handle.datasync();
      } catch (error) {
        failed = true;
        throw error;
      }
    },
    close: () => handle.close(),
  };
}

const toLine = (value: object): string => {
  const text = JSON.stringify(value);
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
};

function readSegment(bytes: Buffer): { header: string | undefined; records: JournalRecord[]; problem?: string } {
  const lines = bytes.toString('utf8').split('\n').slice(0, -1);
  const values = lines.map(fromLine);
  const end = values.indexOf(undefined);
  const [first, ...records] = end === -1 ? values : values.slice(0, end);
  const header = (first as { goesOnFrom?: string } | undefined)?.goesOnFrom;
  const lost = end === -1 ? 0 : values.slice(end).filter((value) => value !== undefined).length;
  const whole = { header, records: records as JournalRecord[] };
  return lost === 0 ? whole : { ...whole, problem: `damaged at line ${end + 1}; ${lost} calls after it are not made` };
}

function fromLine(line: string): object | undefined {
  const text = line.slice(9);
  return crc32(text).toString(16).padStart(8, '0') === line.slice(0, 8) ? (JSON.parse(text) as object) : undefined;
}

async function putAside(folder: string, segments: readonly number[]): Promise<string[]> {
  for (const segment of segments)
    await rename(join(folder, nameOf(segment)), join(folder, `${nameOf(segment)}.unused`));
  return segments.map(
    (segment) => `${nameOf(segment)} goes on from another state; put aside as ${nameOf(segment)}.unused`,
  );
}
