import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readHarRequests } from '../../src/commands/read-har.ts'
import { decodeHit } from '../../src/decoders/index.ts'
import { readBody } from '../../src/decoders/request-body.ts'

/** Recordings of real pages, stored outside the project; the project's own recordings if those are missing. */
const FOLDERS = ['../../../shared/data/har', '../../test/recordings'].map((path) => join(import.meta.dir, path))
const HITS_PER_BATCH = 10
const USER_AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
]

/** A batch of recorded requests. */
export interface RecordedBatch {
  /** JSON without the opening brace, id and session. */
  json: string
  /** Number of events that it contains, which can be higher than the number of its items. */
  events: number
}

/** Recorded traffic. */
export interface RecordedBatches {
  batches: RecordedBatch[]
  /** Vendors in the recordings, the most frequent first. */
  vendors: string[]
}

/**
 * Reads all recordings and returns their requests to known vendors in batches of up to ten, as the browser script sends
 * them. Each batch also has a purchase with the transaction id `ORDER`.
 */
export async function readRecordedBatches(): Promise<RecordedBatches> {
  const folder = FOLDERS.find((path) => existsSync(path)) ?? ''
  const batches: RecordedBatch[] = []
  const counts = new Map<string, number>()
  const names = readdirSync(folder).filter((name) => name.endsWith('.har'))
  for (const [site, name] of names.entries()) {
    const hits = (await readHarRequests(join(folder, name))).flatMap(({ hit, tabUrl }) => {
      const { pageUrl, userAgent: _, ts: __, missingBody: ___, ...item } = hit
      const { vendor, events } = decodeHit({ url: hit.url, method: hit.method, body: readBody(hit).text })
      if (vendor) counts.set(vendor, (counts.get(vendor) ?? 0) + 1)
      return vendor ? [{ item, page: pageUrl ?? tabUrl, events: events.length }] : []
    })
    for (let first = 0; first < hits.length; first += HITS_PER_BATCH) {
      const some = hits.slice(first, first + HITS_PER_BATCH)
      const batch = {
        userAgent: USER_AGENTS[batches.length % USER_AGENTS.length],
        language: ['en', 'de', 'fr'][site % 3],
        version: 1 + (site % 2),
        page: { url: some[0]?.page ?? `https://site-${site}.example/`, title: name },
        hits: some.map(({ item }) => item),
        events: [{ vendor: 'Shop', event: 'purchase', params: { transaction_id: 'ORDER', value: `${site}.50` } }],
      }
      const events = some.reduce((sum, hit) => sum + hit.events, batch.events.length)
      batches.push({ json: JSON.stringify(batch).slice(1), events })
    }
  }
  const vendors = [...counts].sort(([, a], [, b]) => b - a).map(([vendor]) => vendor)
  return { batches, vendors }
}
