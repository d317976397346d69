import { expect, it } from 'vitest';
import { deliverySeries } from './delivery.ts';

const attempt = (at: string, status: number | null) =>
  ({ number: 1, at, status, error: null, durationMs: 1, response: null }) as const;

it('counts attempts by hour without gaps, and what share was taken', () => {
  const { timesMs, taken, refused, successRate } = deliverySeries([
    { attempts: [attempt('2026-01-01T10:59:59.999Z', 500), attempt('2026-01-01T11:00:00.000Z', 204)] },
    { attempts: [attempt('2026-01-01T13:30:00.000Z', null), attempt('2026-01-01T11:20:00.000Z', 200)] },
  ]);
  expect(timesMs.length).toBe(12);
  expect(timesMs.slice(-4).map((ms) => new Date(ms).toISOString().slice(11, 13))).toEqual(['10', '11', '12', '13']);
  expect({ taken: taken.slice(-4), refused: refused.slice(-4), successRate }).toEqual({
    ...{ taken: [0, 2, 0, 0], refused: [1, 0, 0, 1], successRate: 0.5 },
  });
});

it('counts by day where more than two days are spanned, and nothing where nothing was sent', () => {
  const days = deliverySeries([
    { attempts: [attempt('2026-01-01T10:00:00Z', 200), attempt('2026-01-04T09:00:00Z', 503)] },
  ]);
  expect({ taken: days.taken.slice(-4), refused: days.refused.slice(-4) }).toEqual({
    ...{ taken: [1, 0, 0, 0], refused: [0, 0, 0, 1] },
  });
  expect(deliverySeries([{ attempts: [] }])).toMatchObject({ timesMs: [], successRate: null });
});
