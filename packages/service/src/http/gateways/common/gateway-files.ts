import { fileLife, type StoredFile } from '@agent-network/contracts/files/files';
import { safeName } from '../../../files/file-facts.ts';
import { resultFilesIn } from '../../../files/file-refs.ts';
import { resultLinkOf } from '../../../files/file-view.ts';
import { receiveFile } from '../../../files/receive-file.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { clientNetwork } from '../../request/remote-address.ts';
import { callEndpoint } from './call-endpoint.ts';
import type { GatewayRequest } from './gateway-request.ts';

/** A file of a result as gateways show it. */
export interface ShownFile {
  /** null: the node does not have it. */
  readonly fileId: string | null;
  /** A link that needs no key, valid for an hour; else the address that the agent gave. */
  readonly url: string;
  readonly mediaType: string | null;
  readonly name: string | null;
  readonly size: number | null;
}

interface Ended {
  readonly requestId: string;
  readonly status: string;
  readonly result?: unknown;
}

/** Names the files of a result. */
export type FilesOf = (ended: Ended) => readonly ShownFile[];

/** The files of a result, for whoever it is shown to. */
export const shownFilesOf = (
  ctx: Parameters<typeof resultLinkOf>[0],
  { requestId, status, result }: Ended,
): ShownFile[] =>
  status === 'completed'
    ? resultFilesIn(result).map(({ url, ...file }) => ({
        ...file,
        url: file.fileId === null ? (url ?? '') : resultLinkOf(ctx, requestId, file.fileId),
      }))
    : [];

/** A content that came with a request to a gateway. */
export interface GatewayContent {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly name?: string | null | undefined;
  /** Seconds; absent: as uploads live. */
  readonly lifeS?: number | undefined;
}

/** Stores a content as a file of the caller, with all checks of an upload. */
export async function storeForGateway(
  ctx: HttpContext,
  opened: GatewayRequest,
  { bytes, mediaType, name, lifeS = fileLife.default }: GatewayContent,
): Promise<StoredFile> {
  const announced = {
    ...{ sha256: null, size: bytes.byteLength, mediaType, lifeS, network: clientNetwork(ctx, opened.c) },
    name: name ? safeName(name) : null,
  };
  const content = {
    async *pieces() {
      yield bytes;
    },
    arrived: async () => undefined,
  };
  const { data } = await callEndpoint(ctx, opened, 'createFile', {
    handler: async (_ctx, { caller }) => (await receiveFile(ctx, caller, announced, content)).file,
  });
  return data;
}
