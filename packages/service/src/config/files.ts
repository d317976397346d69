import { join } from 'node:path';
import { UNLIMITED } from '@agent-network/contracts/access/access';
import { ConfigError, type Env, integer } from '../lib/read-env.ts';

export const fileStoreNames = ['postgres', 'disk', 's3'] as const;
export type FileStoreName = (typeof fileStoreNames)[number];

/** A bucket of an S3-compatible service. */
export interface BucketSettings {
  /** Address of the bucket, in path style, without a trailing slash. */
  readonly url: string;
  readonly region: string;
  readonly keyId: string;
  readonly keySecret: string;
}

export interface FileSettings {
  /** The store of new files. Those of the others stay readable while their settings are there. */
  readonly fileStore: FileStoreName;
  readonly filesDir: string;
  /** null: no bucket. */
  readonly filesBucket: BucketSettings | null;
  /** Origin that links to contents lead to; null: the node's own. */
  readonly filesBaseUrl: string | null;
  readonly maxFileBytes: number;
  /** Bytes of uploads that an account sends in a minute, to each process; all accounts together may send four times as much. */
  readonly uploadBytesPerMinute: number;
}

const MIB = 1024 * 1024;
/** Larger rows would make backups and replicas of the database slow. */
const MAX_IN_DATABASE_MIB = 16;

/** `isPrivate`: only this machine reaches the node. */
export function readFileSettings(
  env: Env,
  { isPrivate, dataDir }: { isPrivate: boolean; dataDir: string },
): FileSettings {
  const fileStore = storeOf(env.FILE_STORE || 'postgres');
  const filesBucket = env.FILES_S3_URL ? bucketOf(env.FILES_S3_URL) : null;
  if (fileStore === 's3' && filesBucket === null)
    throw new ConfigError(
      'FILES_S3_URL must be set with FILE_STORE=s3: https://<key id>:<secret>@<host>/<bucket>?region=<region>.',
    );
  const maxMib = integer(env, 'MAX_FILE_MIB', 16, 1, 1024);
  if (fileStore === 'postgres' && maxMib > MAX_IN_DATABASE_MIB)
    throw new ConfigError(
      `MAX_FILE_MIB must be at most ${MAX_IN_DATABASE_MIB} with FILE_STORE=postgres; disk and s3 take up to 1024.`,
    );
  return {
    ...{ fileStore, filesBucket },
    filesDir: env.FILES_DIR || join(dataDir, 'files'),
    filesBaseUrl: env.FILES_BASE_URL ? originOf(env) : null,
    maxFileBytes: maxMib * MIB,
    uploadBytesPerMinute: integer(env, 'UPLOAD_BYTES_PER_MINUTE', isPrivate ? UNLIMITED : 64 * MIB, 1, 2_000_000_000),
  };
}

function storeOf(text: string): FileStoreName {
  const name = fileStoreNames.find((each) => each === text);
  if (!name) throw new ConfigError(`FILE_STORE must be one of ${fileStoreNames.join(', ')}.`);
  return name;
}

const BUCKET_FORM = 'FILES_S3_URL must be a URL as https://<key id>:<secret>@<host>/<bucket>?region=<region>.';

/** The message never repeats the value: it has a secret. */
function bucketOf(text: string): BucketSettings {
  const url = URL.parse(text);
  const bucket = url?.pathname.replace(/\/$/, '') ?? '';
  if (!url || !/^https?:$/.test(url.protocol) || !/^\/[a-z0-9][\w.-]{1,62}$/.test(bucket))
    throw new ConfigError(BUCKET_FORM);
  if (url.username === '' || url.password === '') throw new ConfigError(BUCKET_FORM);
  const region = url.searchParams.get('region') ?? 'us-east-1';
  if (!/^[a-z0-9-]{1,40}$/.test(region)) throw new ConfigError(BUCKET_FORM);
  return {
    ...{ url: url.origin + bucket, region },
    keyId: decodeURIComponent(url.username),
    keySecret: decodeURIComponent(url.password),
  };
}

function originOf({ FILES_BASE_URL = '', BASE_URL }: Env): string {
  const url = URL.parse(FILES_BASE_URL);
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new ConfigError('FILES_BASE_URL must be an origin like https://files.example.com, without a path.');
  if (BASE_URL !== undefined && URL.parse(BASE_URL)?.host === url.host)
    throw new ConfigError(
      'FILES_BASE_URL must have another host than BASE_URL: contents of strangers are kept apart from it.',
    );
  return url.origin;
}
