import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeBatch } from '../ingest/decode-batch.ts'
import { type EventFields, HOUR } from './warehouse.fixture.ts'

const CAPTURES = join(import.meta.dir, '../../../shared/data/har')

/** The folder of real captures; null if it doesn't exist. */
export const capturesFolder = existsSync(CAPTURES) ? CAPTURES : null

interface HarEntry {
  startedDateTime?: string
  request: { url: string; method: string; postData?: { text?: string } }
}

/** Events from all real captures, assigned to the given organization and domain. Unreadable captures are omitted. */
export function capturedEvents(folder: string, domain: { id: string; orgId: string }): EventFields[] {
  let seq = 0
  const nextSeq = () => ++seq
  return readdirSync(folder)
    .filter((name) => name.endsWith('.har'))
    .flatMap((name) => {
      const { entries }: { entries: HarEntry[] } = JSON.parse(readFileSync(join(folder, name), 'utf8')).log
      const hits = entries.map(({ request: { url, method, postData } }) => ({ url, method, body: postData?.text }))
      const batches = Array.from({ length: Math.ceil(hits.length / 500) }, (_, n) => hits.slice(n * 500, (n + 1) * 500))
      return batches.flatMap(
        (hits) =>
          decodeBatch(
            { sessionId: name, page: { url: 'https://captured.example/' }, hits },
            {
              domain: {
                id: domain.id,
                orgId: domain.orgId,
                customerSalt: 'salt',
                nameVendor: () => null,
                pageViewRate: { dev: 1, prod: 1 },
              },
              receivedAt: HOUR,
              nextSeq,
              isDenied: () => false,
              judge: () => [],
            },
          ).events,
      )
    })
    .map(({ seq: _, receivedAt, ...said }) => said)
}
