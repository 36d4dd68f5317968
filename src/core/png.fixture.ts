import { expect } from 'bun:test'
import { inflateSync } from 'node:zlib'
import type { Picture } from './png.ts'

/** Written from the specification: chunks with their lengths, and lines that each begin with a filter. */
export function decodePng(png: Buffer): Picture {
  expect([...png.subarray(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10])
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const typed = png.subarray(at + 4, at + 8 + length)
    expect(png.readUInt32BE(at + 8 + length)).toBe(Bun.hash.crc32(typed))
    chunks.set(typed.toString('latin1', 0, 4), typed.subarray(4))
    at += length + 12
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'IDAT', 'IEND'])
  const head = chunks.get('IHDR') ?? Buffer.alloc(0)
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const lines = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
  const rows = Array.from({ length: height }, (_, y) => lines.subarray(y * (width * 4 + 1), (y + 1) * (width * 4 + 1)))
  expect(rows.every(([filter]) => filter === 0)).toBe(true)
  return { width, height, rgba: new Uint8Array(Buffer.concat(rows.map((row) => row.subarray(1)))) }
}
