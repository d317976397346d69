import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const WIDTH = 160;

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};

function part(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([u32(data.length), body, u32(crc32(body))]);
}

/** A picture that every browser draws, larger than what stays in a result. */
export function noisePng(): Buffer {
  const rows = Array.from({ length: WIDTH }, () => Buffer.concat([Buffer.of(0), randomBytes(3 * WIDTH)]));
  const header = Buffer.concat([u32(WIDTH), u32(WIDTH), Buffer.of(8, 2, 0, 0, 0)]);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const pixels = deflateSync(Buffer.concat(rows));
  return Buffer.concat([signature, part('IHDR', header), part('IDAT', pixels), part('IEND', Buffer.alloc(0))]);
}
