import { expect, it } from 'vitest';
import { createArrivingBodies, MAX_OF_NETWORK_BYTES, SMALL_BYTES } from './read-body.ts';

const MIB = 1024 * 1024;
const nothing = {
  code: 'UNAVAILABLE',
  message: expect.stringContaining('same payment'),
  extra: { details: { outcome: 'nothing' } },
};
const errorOf = (work: () => void): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
};

it('a network that sends more than 32 MiB at once is refused until some of it is whole, and no other is', () => {
  const bodies = createArrivingBodies();
  const sent = Array.from({ length: MAX_OF_NETWORK_BYTES / MIB }, () => bodies.open('192.0.2.1'));
  for (const body of sent) body.add(MIB);
  const late = bodies.open('192.0.2.1');
  late.add(SMALL_BYTES);
  expect(errorOf(() => late.add(1))).toMatchObject(nothing);
  bodies.open('192.0.2.1').add(SMALL_BYTES);
  bodies.open('192.0.2.2').add(MIB);
  sent[0]?.close();
  late.add(MIB / 2);
  expect(errorOf(() => late.add(MIB / 2))).toMatchObject(nothing);
});

it('beyond 256 MiB in all, there is room for small bodies only', () => {
  const bodies = createArrivingBodies();
  const large = Array.from({ length: 8 }, (_, nth) => bodies.open(`192.0.2.${nth}`));
  for (const body of large) body.add(MAX_OF_NETWORK_BYTES);
  const small = bodies.open('198.51.100.1');
  small.add(SMALL_BYTES);
  expect(errorOf(() => small.add(1))).toMatchObject(nothing);
  const other = bodies.open('192.0.2.1');
  other.add(SMALL_BYTES);
  other.close();
  large[0]?.close();
  large[0]?.close();
  small.add(MIB);
  small.close();
  bodies.open('198.51.100.2').add(MAX_OF_NETWORK_BYTES);
});
