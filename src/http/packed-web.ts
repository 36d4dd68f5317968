import type { StaticFile } from './static-files.ts'
import type { WebBundle } from './web-pages.ts'

// Optimisation: see docs/develop/tuning.md

/** A range of the packed bytes; `to` is exclusive. */
type Range = readonly [from: number, to: number]

interface PackedFile extends Omit<StaticFile, 'body' | 'packed'> {
  body: Range
  packed: Readonly<Record<string, Range>>
}

/** Index of the packed bytes, stored as JSON. */
export interface WebIndex extends Pick<WebBundle, 'areas'> {
  pages: Readonly<Record<string, PackedFile>>
  assets: Readonly<Record<string, PackedFile>>
}

/**
 * Packs a bundle into one byte sequence with an index. The executable embeds the pages as a file, which is read when
 * the first page is requested. As program text, the pages would use 8 MB more memory.
 */
export function packWeb({ pages, assets, areas }: WebBundle): { bytes: Uint8Array<ArrayBuffer>; index: WebIndex } {
  const parts: Uint8Array[] = []
  let length = 0
  const put = (content: Uint8Array): Range => {
    parts.push(content)
    length += content.length
    return [length - content.length, length]
  }
  const file = ({ type, hash, body, packed }: StaticFile): PackedFile => ({
    type,
    hash,
    body: put(body),
    packed: mapped(packed, put),
  })
  const index = { pages: mapped(pages, file), assets: mapped(assets, file), areas }
  return { bytes: new Uint8Array(Buffer.concat(parts)), index }
}

/** Returns the bundle packed by `packWeb`. Its contents are views of the packed bytes. */
export function unpackWeb(bytes: Uint8Array<ArrayBuffer>, { pages, assets, areas }: WebIndex): WebBundle {
  const part = ([from, to]: Range) => bytes.subarray(from, to)
  const file = ({ type, hash, body, packed }: PackedFile): StaticFile => ({
    type,
    hash,
    body: part(body),
    packed: mapped(packed, part),
  })
  return { pages: mapped(pages, file), assets: mapped(assets, file), areas }
}

const mapped = <T, U>(all: Readonly<Record<string, T>>, to: (one: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(all).map(([name, one]) => [name, to(one)]))
