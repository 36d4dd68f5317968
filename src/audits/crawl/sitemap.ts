import { gunzipSync } from 'node:zlib'
import type { WebFile } from '../../browser/fetch-web-file.ts'
import { messageOf } from '../../core/error.ts'
import { pageAddress } from './normalize-page-url.ts'

/** Maximum size of a sitemap in bytes, as defined by sitemaps.org. */
export const SITEMAP_MAX_BYTES = 50 * 1024 * 1024
/** Maximum number of files read for one sitemap index, including nested indexes. */
const FILES_MAX = 100
/** Matches a `loc` element. Page URLs are never longer than the limit in this pattern. */
const LOC = /<(?:([\w-]+):)?loc\b[^>]{0,200}>(?:\s{0,200}<!\[CDATA\[([\s\S]{0,2100}?)\]\]>|([^<]{0,2100})(?=<))/g
const ROOT = /<(?:([\w-]+):)?(urlset|sitemapindex)\b/

export interface SitemapOptions {
  read(url: string): Promise<Pick<WebFile, 'status' | 'body'>>
  /** Receives the URL of a page. Returns false when no more URLs are needed. */
  take(address: string): boolean
}

/**
 * Passes the URLs in a sitemap to `take`, in order. The sitemap is an XML file, an index of XML files, or a text file
 * with one URL per line. Each file may be compressed with gzip. Returns the reason why the sitemap can't be read, or
 * null. Unreadable files in an index are skipped.
 */
export async function readSitemap(url: string, { read, take }: SitemapOptions): Promise<string | null> {
  const known = new Set([url])
  const waiting = [url]
  for (let files = 0; files < FILES_MAX; files++) {
    const next = waiting.shift()
    if (next === undefined) break
    const text = await sitemapText(next, read)
    if (typeof text !== 'string') {
      if (next === url) return text.fault
      continue
    }
    for (const [index, address] of addressesIn(text)) {
      if (!index) {
        if (!take(address)) return null
      } else if (!known.has(address)) {
        known.add(address)
        waiting.push(address)
      }
    }
  }
  return null
}

async function sitemapText(url: string, read: SitemapOptions['read']): Promise<string | { fault: string }> {
  try {
    const { status, body } = await read(url)
    if (status !== 200) return { fault: `it responded with status ${status}` }
    const isGzip = body[0] === 0x1f && body[1] === 0x8b
    return new TextDecoder().decode(isGzip ? gunzipSync(body, { maxOutputLength: SITEMAP_MAX_BYTES }) : body)
  } catch (error) {
    return { fault: messageOf(error) }
  }
}

/** Yields the URLs in a file. `isFile` is true for the URL of another sitemap file. */
function* addressesIn(text: string): Generator<[isFile: boolean, address: string]> {
  const root = ROOT.exec(text.slice(0, 10_000))
  if (!root) {
    for (const line of text.split(/\r?\n/)) {
      const address = /^\s*https?:\/\//i.test(line) ? pageAddress(line.trim()) : null
      if (address !== null) yield [false, address]
    }
    return
  }
  const [, prefix, name] = root
  const isIndex = name === 'sitemapindex'
  for (const [, of, quoted, plain = ''] of text.matchAll(LOC)) {
    // `image:loc` and `video:loc` do not contain page URLs.
    if (of !== prefix) continue
    const written = quoted ?? unescaped(plain)
    const address = isIndex ? URL.parse(written.trim())?.href : pageAddress(written.trim())
    if (address) yield [isIndex, address]
  }
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescaped = (text: string) =>
  text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
