import { LRUCache } from 'lru-cache';
import { AppError } from '../../lib/app-error.ts';
import { createJobThread } from '../../lib/concurrency/job-thread.ts';
import { createMeter } from '../../lib/concurrency/meter.ts';
import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import { type Document, toDocument } from '../documents/document-answer.ts';
import { type PreviewCard, previewSvg } from './preview-card.ts';

const KEPT_BYTES = 16 * 1024 * 1024;
const MAX_WAITING = 16;
const MAX_DRAW_MS = 10_000;
/** The thread with its fonts needs some 30 MB, so it stops after a minute without requests. */
const IDLE_MS = 60_000;

/** Pictures that may be drawn at once, and in the long run: a picture takes some 50 ms of a processor. */
const BURST = 30;
const PER_S = 1;
/** Pictures for one network address, so that it can't use up the limit of all. */
const BURST_OF_ADDRESS = 10;
const PER_S_OF_ADDRESS = 0.1;

export interface PreviewDrawer {
  /**
   * The card as PNG, cached after the first drawing; a new drawing counts for the requesting network address. Throws UNAVAILABLE when a
   * limit is reached.
   */
  draw(card: PreviewCard, address: string): Promise<Document>;
}

/**
 * Draws link previews in a thread, one at a time, in a WebAssembly sandbox. Strangers choose the texts, by naming agents, so there are
 * limits: drawings per minute, in total and per address, waiting ones, time per drawing, and cached bytes.
 */
export function createPreviewDrawer({
  maxWaiting = MAX_WAITING,
  burst = BURST,
  burstOfAddress = BURST_OF_ADDRESS,
} = {}): PreviewDrawer {
  const kept = new LRUCache<string, Document>({ maxSize: KEPT_BYTES, sizeCalculation: ({ bytes }) => bytes.length });
  const drawing = createSemaphore(maxWaiting);
  const ofAll = createMeter({ perS: PER_S, burst });
  const ofAddress = createMeter({ perS: PER_S_OF_ADDRESS, burst: burstOfAddress });
  const thread = createJobThread<string, Uint8Array<ArrayBuffer>>(new URL('draw-worker.ts', import.meta.url), {
    maxMs: MAX_DRAW_MS,
    idleMs: IDLE_MS,
  });
  async function drawNew(svg: string, address: string): Promise<Document> {
    const nowMs = performance.now();
    const isOver = ofAddress.waitMs(address, 1, nowMs) > 0 || ofAll.waitMs('', 1, nowMs) > 0;
    if (isOver || drawing.free() === 0) throw tooMany();
    ofAddress.use(address, 1, nowMs);
    ofAll.use('', 1, nowMs);
    const document = toDocument(await drawing.run(() => thread.run(svg)), 'image/png');
    kept.set(svg, document);
    return document;
  }
  const drawOnce = singleFlight(drawNew, (svg) => svg);
  return {
    async draw(card, address) {
      const svg = previewSvg(card);
      return kept.get(svg) ?? drawOnce(svg, address);
    },
  };
}

const tooMany = () => new AppError('UNAVAILABLE', 'Too many link previews are being drawn.');
