import { crc32, deflateSync } from 'node:zlib'

/** Pixels in rows from the top left: red, green, blue and opacity of each, 0 to 255. */
export interface Picture {
  width: number
  height: number
  rgba: Uint8Array
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)

/** Returns the picture as PNG, 8 bits a channel with opacity. Source: https://www.w3.org/TR/png-3/ */
export function encodePng({ width, height, rgba }: Picture): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // Bits of a channel, colour with opacity, and the only methods of compression, filtering and order there are.
  head.set([8, 6, 0, 0, 0], 8)
  const stride = width * 4
  const lines = Buffer.alloc((stride + 1) * height)
  // Each line begins with its filter: none.
  for (let y = 0; y < height; y++) lines.set(rgba.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
