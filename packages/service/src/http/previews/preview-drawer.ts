import { LRUCache } from 'lru-cache';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { createJobThread } from '../../lib/concurrency/job-thread.ts';
import { type Document, toDocument } from '../documents/document-answer.ts';
import { type PreviewCard, previewSvg } from './preview-card.ts';

const KEPT_BYTES = 16 * 1024 * 1024;
const MAX_WAITING = 16;
const MAX_DRAW_MS = 10_000;
/** The thread with its fonts takes some 30 MB: it ends when nobody asks for pictures. */
const IDLE_MS = 60_000;

/** Pictures that may be drawn at once, and in the long run: a picture takes some 50 ms of a processor. */
const BURST = 30;
const MS_TO_A_DRAWING = 1000;
/** The same for one network address, so that nobody takes the drawings of all. */
const BURST_OF_ADDRESS = 10;
const MS_TO_A_DRAWING_OF_ADDRESS = 10_000;
const MAX_ADDRESSES = 10_000;

export interface PreviewDrawer {
  /**
   * The card as PNG, from memory if it was drawn before; a new drawing counts for the network address that asks for it. Throws UNAVAILABLE
   * when too much is asked for.
   */
  draw(card: PreviewCard, address: string): Promise<Document>;
}

/**
 * Draws link previews in a thread, one at a time, in a WebAssembly sandbox. What can be asked for is bounded by what agents are called, and so
 * by strangers: the drawings of a minute, of one address and of all, those that wait, the time of one and the bytes that are kept are limited.
 */
export function createPreviewDrawer({
  maxWaiting = MAX_WAITING,
  burst = BURST,
  burstOfAddress = BURST_OF_ADDRESS,
} = {}): PreviewDrawer {
  const kept = new LRUCache<string, Document>({ maxSize: KEPT_BYTES, sizeCalculation: ({ bytes }) => bytes.length });
  const drawing = new Map<string, Promise<Document>>();
  const allowance = createAllowance(burst, MS_TO_A_DRAWING);
  const allowances = createBoundedCache<Allowance>(MAX_ADDRESSES);
  const allowanceOf = (address: string): Allowance => {
    const own = allowances.get(address) ?? createAllowance(burstOfAddress, MS_TO_A_DRAWING_OF_ADDRESS);
    allowances.set(address, own);
    return own;
  };
  const thread = createJobThread<string, Uint8Array<ArrayBuffer>>(new URL('draw-worker.ts', import.meta.url), {
    maxMs: MAX_DRAW_MS,
    idleMs: IDLE_MS,
  });
  return {
    async draw(card, address) {
      const svg = previewSvg(card);
      const known = kept.get(svg) ?? drawing.get(svg);
      if (known) return known;
      if (drawing.size >= maxWaiting || !allowanceOf(address).take() || !allowance.take()) throw tooMany();
      const drawn = thread.run(svg).then((png) => toDocument(png, 'image/png'));
      drawing.set(svg, drawn);
      try {
        const document = await drawn;
        kept.set(svg, document);
        return document;
      } finally {
        drawing.delete(svg);
      }
    },
  };
}

const tooMany = () => new AppError('UNAVAILABLE', 'Too many link previews are being drawn.');

interface Allowance {
  take(): boolean;
}

function createAllowance(burst: number, msToOne: number): Allowance {
  let left = burst;
  let sinceMs = performance.now();
  return {
    take() {
      const nowMs = performance.now();
      left = Math.min(burst, left + (nowMs - sinceMs) / msToOne);
      sinceMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
